"""C and C++: a build that records itself (``build``, ``weave``), its window of records, and steps read from it."""
