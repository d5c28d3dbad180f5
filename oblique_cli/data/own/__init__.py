"""Users' tables: from bytes to columns."""
