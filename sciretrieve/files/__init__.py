"""Files on disk: atomic writing, verified reading, streams, and tables of papers."""
