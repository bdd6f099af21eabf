"""A Python test with names for its numbers, so that it can be run on other ones."""
