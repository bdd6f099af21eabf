"""The synergistic loop: causes proved on one run, changes reverted in others (AFTER, ICSE 2015)."""
