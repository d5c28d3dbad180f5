"""Trees of tables that do not fit into memory, or into one machine: the tree in memory would be the same, to the bit."""
