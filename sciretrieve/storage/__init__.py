"""An index on disk: manifest, shards, commits, verification and repair."""
