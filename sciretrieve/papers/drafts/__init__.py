"""Drafts: texts that somebody is writing, as sentences with their places in the source and the citations that they have."""
