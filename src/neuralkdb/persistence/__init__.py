"""A model as one inert file: a zip of a JSON document and a block of numbers. Nothing in it is ever executed."""
