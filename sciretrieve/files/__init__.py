"""Files on disk: written so that a crash never leaves half of one, read only as they were written; and tables of papers."""
