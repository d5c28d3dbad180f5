"""Pictures of trees, partitions and tuning, by matplotlib, which is imported when something is drawn."""
