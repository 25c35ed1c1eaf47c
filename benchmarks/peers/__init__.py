"""The library beside its peers: accuracy, speed, memory and manners. `python -m benchmarks.peers --help` says how."""
