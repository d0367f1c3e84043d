"""What every part stands on: errors, types of papers and queries, choices, and words and characters as people read them."""
