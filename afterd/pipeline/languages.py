"""The languages of the changed files, as far as anything traces them."""

from __future__ import annotations

from pathlib import PurePath

from afterd.model.change import ChangeForm
from afterd.workspace import Range

_SUFFIXES = {
    "c": ".c .h .cc .cpp .cxx .hpp .hh .hxx .inc .def .y .l",
    "python": ".py",
    "go": ".go",
    "rust": ".rs",
    "java": ".java",
    "swift": ".swift",
    "ruby": ".rb",
    "php": ".php",
    "js": ".js .mjs .cjs .jsx .ts .mts .cts .tsx",
}
_LANGUAGES = {
    suffix: language for language, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}
COUNTED = frozenset({"go", "rust", "js", "ruby", "php", "java", "swift"})
"""Those whose own coverage tells what ran, as no tracer reads them."""

TRACED = frozenset({"c", "python"})


def language_of(file: str) -> str | None:
    """The name of the language in which a file is written; None where nothing traces or counts it."""
    return _LANGUAGES.get(PurePath(file).suffix.lower())


def changed_languages(wanted: Range) -> frozenset[str]:
    """The names of the languages in which a change that can matter is written."""
    found = {language_of(change.file) for change in wanted.changes.live}
    if any(change.form is ChangeForm.SYMLINK for change in wanted.changes.live):
        found.add("python")  # a package may be found through it
    return frozenset(filter(None, found))
