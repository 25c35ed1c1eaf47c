"""Modules that cannot be imported without their extra are not searched for doctests where it is missing."""

from importlib.util import find_spec

collect_ignore = [] if find_spec("torch") else ["neuralkdb/engines/gpu.py"]
