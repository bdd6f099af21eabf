"""The Python tracer: a failing run and its green partner as ``model.trace.Execution``."""
