"""The paper's experiments: data sets, protocol, statistics, tables and figures."""
