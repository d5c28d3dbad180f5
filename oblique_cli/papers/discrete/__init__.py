"""Trees over discrete features, their ensembles and their spectra."""
