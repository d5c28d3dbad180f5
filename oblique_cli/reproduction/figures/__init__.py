"""The figures of the papers, drawn again."""
