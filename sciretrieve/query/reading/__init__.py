"""Reading a query: what is typed, or papers in its place, becomes a `Probe`. Nothing is searched here."""
