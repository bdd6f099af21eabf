"""Subsets of changes: how they hang together, and delta debugging over them."""
