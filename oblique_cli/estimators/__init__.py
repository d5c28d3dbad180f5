"""scikit-learn estimators and the table of algorithms."""
