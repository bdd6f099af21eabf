"""Git through pygit2: ranges, changes, variants, work trees. Starts no process."""
