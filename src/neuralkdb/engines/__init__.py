"""Counts elsewhere: lazy tables of DuckDB, Polars, Spark and others, and graphics processors."""
