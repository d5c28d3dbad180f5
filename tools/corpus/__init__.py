"""Tables of installed packages with labels by hand, and what is measured on them."""
