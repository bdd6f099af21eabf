"""The failed assertion of one process: abort, crash or exit status."""
