"""One run of a program, recorded and read: what each tracer supplies."""
