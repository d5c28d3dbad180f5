"""Model families other than trees, and the papers: `ground/extensions.py` lists what they register."""
