"""Torture: crashes, power failures, faults, damage, and hostile input, a few in every run of the tests, thousands by `make torture`."""
