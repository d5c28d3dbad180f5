"""C4.5 over discrete features: domains, multiway trees, growth and pruning."""
