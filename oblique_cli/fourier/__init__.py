"""Trees over discrete features as functions: their Fourier spectra, and trees from spectra."""
