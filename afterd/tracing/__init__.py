"""A failing run as an execution in SSA form, one folder a language."""
