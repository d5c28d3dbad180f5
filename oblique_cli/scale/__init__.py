"""Trees of tables beyond memory, or beyond one machine: those that memory would give, to the bit."""
