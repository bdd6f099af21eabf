"""The only package that knows z3 and python-sat: weakest preconditions, cores, MaxSAT."""
