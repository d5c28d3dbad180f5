"""Trees of tables larger than the memory of one machine, identical to the trees grown in memory, to the bit."""
