"""What an index is on disk: its manifest, its shards, and the commits that change it; checked and repaired."""
