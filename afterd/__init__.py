"""afterd explains why a regression test went red."""

__version__ = "0.1.0"
