"""What is done to a ranking after the search: ordering its first papers anew, near-duplicates as one, variety."""
