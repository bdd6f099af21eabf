"""What runs inside the traced interpreter: standard library only, CPython 3.8 and newer.

The folder is copied, as the package ``afterd_runtime``, to a directory that is put on the target's
``PYTHONPATH`` (``runner.py``); the target's environment need not have afterd installed. Imports are
therefore relative, and nothing here may import the rest of afterd.
"""
