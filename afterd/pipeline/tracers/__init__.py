"""What traces a failing test, a module for each way; each is imported where its language is met."""
