"""The calls that are woven into a module so that it records its own execution."""
