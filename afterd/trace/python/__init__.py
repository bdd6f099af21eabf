"""Python: an instrumented syntax tree in the user's own interpreter, and steps read from what it left."""
