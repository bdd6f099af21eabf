"""Rows as steps in SSA form: frames, names, attributes, contents, terms and branches."""
