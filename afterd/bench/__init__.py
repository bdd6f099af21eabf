"""How well afterd does, measured: programs with a known cause, and what finding it took.

A *case* makes a repository of two commits and knows which changes did it. Each case is explained by
each strategy in a process of its own and in a directory that is removed afterwards; the answer is
judged by the criteria of the AFTER paper (section VI-A). ``docs/benchmarks.md`` holds the latest tables.
"""
