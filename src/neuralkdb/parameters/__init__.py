"""How tables become probabilities: one file per kind of estimate."""
