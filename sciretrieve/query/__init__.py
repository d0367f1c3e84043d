"""Opened indexes: reading a query, choosing the papers that may answer, and ranking them."""
