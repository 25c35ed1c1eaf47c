"""The scikit-learn surface: thin named cells of the grid of structures and parameters."""
