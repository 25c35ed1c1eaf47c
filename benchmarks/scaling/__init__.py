"""How fit, predict and memory grow with rows, features, values, classes, k and threads."""
