"""Trees: their structure, how a node is split, when growth stops, how trees are grown and pruned."""
