"""The command line: a thin file a verb. To add one, write the file and a line in ``main.py``."""
