"""A failing run and the green one beside it, of which only line counts are known."""
