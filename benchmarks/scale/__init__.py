"""Trees of tables beyond memory: rows a second, bytes read, time a level and peak memory, beside other libraries."""
