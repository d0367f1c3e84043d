"""Who cites whom: the papers that references mean, and how papers are related by them."""
