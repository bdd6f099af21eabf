"""What a text defines and needs, without running it: what speaks against a variant before it is run."""
