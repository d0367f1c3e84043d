"""One module per family of benchmarks, which reads its authors' files into `Material`."""
