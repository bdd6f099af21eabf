"""What a run executed, counted by the language's own coverage: no tracer, no instrumenting of ours."""
