"""Tables in files: CSV, TSV, Parquet and ARFF, whole or as a stream. The only place that knows pandas and pyarrow."""
