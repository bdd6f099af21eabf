"""Text that is not valid UTF-8, in a database that insists on it.

File names, patches and outputs hold escaped surrogates for bytes that are not UTF-8 (PEP 383), and
a test may print any lone surrogate. Such text is stored as a blob of its own code points; every
other text stays text, so that the database can be read with any SQLite tool.
"""

from __future__ import annotations

Cell = str | bytes | int | float | None


def stored_text(text: str) -> str | bytes:
    """``text``, or a blob where SQLite could not take it as text."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")
    return text


def loaded_text(cell: object) -> str:
    """The text that :func:`stored_text` made ``cell`` from; raises ValueError for any other cell."""
    if isinstance(cell, bytes):
        return cell.decode("utf-8", "surrogatepass")
    if isinstance(cell, str):
        return cell
    raise ValueError(f"text was expected, not {cell!r}")
