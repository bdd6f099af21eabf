"""Execution counts of a suite, test by test, in both languages."""
