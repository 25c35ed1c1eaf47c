"""Modules that cannot be imported without their extra are not searched for doctests where it is missing."""

from importlib.util import find_spec

NEEDED = {"torch": "gpu.py", "triton": "fused.py"}
collect_ignore = [f"neuralkdb/engines/{file}" for library, file in NEEDED.items() if not find_spec(library)]
