"""Spectra of C and C++: counters that afterd-cc puts in, and what they count.

``plan`` says which counters a function has, ``weave`` puts them in, ``runtime.c`` keeps them in a file
that outlives the process, ``counts`` reads that, and ``program`` makes entities of it.
"""
