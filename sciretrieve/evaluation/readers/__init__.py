"""One module a family of benchmarks: from its files, in the layout that its authors publish, to `Material`."""
