"""Recognising failures in what a test printed; each module reads one family of reports."""
