"""Reads benchmarks' files into `Material`, one module per family."""
