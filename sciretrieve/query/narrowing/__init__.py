"""Choosing the papers that may answer: the filter language, the demands of a typed query, and masks over papers."""
