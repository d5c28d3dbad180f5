"""Tables of a user's own, from bytes to columns."""
