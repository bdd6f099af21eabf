"""The compiler wrapper, and the modules of a traced build."""
