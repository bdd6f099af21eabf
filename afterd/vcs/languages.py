"""Which lexical family a file belongs to, told from its name."""

from __future__ import annotations

from enum import StrEnum
from pathlib import PurePosixPath


class Language(StrEnum):
    """Lexical families: how comments, strings, statements and blocks are written."""

    C = "c"  # C and C++: preprocessor, semicolons
    JAVA = "java"  # semicolons, no preprocessor
    SCRIPT = "script"  # braces, but a statement may end with its line: JavaScript, Go, Swift, …
    RUST = "rust"  # semicolons; 'a is a lifetime
    PYTHON = "python"
    OTHER = "other"  # lines are all that is known

    @property
    def braced(self) -> bool:
        """Whether blocks are written with braces."""
        return self not in {Language.PYTHON, Language.OTHER}


_SUFFIXES = {
    Language.C: "c h cc cpp cxx c++ hh hpp hxx h++ inl ipp tcc tpp inc m mm cu cuh",
    Language.JAVA: "java cs php dart d proto glsl css scss less",
    Language.SCRIPT: "js jsx mjs cjs ts tsx mts cts go swift kt kts scala groovy",
    Language.RUST: "rs",
    Language.PYTHON: "py pyi pyw",
}
_BY_SUFFIX = {
    f".{suffix}": language
    for language, suffixes in _SUFFIXES.items()
    for suffix in suffixes.split()
}


def language_of(path: str) -> Language:
    """The family of a file by its suffix; OTHER when nothing better is known."""
    return _BY_SUFFIX.get(PurePosixPath(path).suffix.lower(), Language.OTHER)
