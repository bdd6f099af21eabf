"""Modules laid over a tree in memory: changed, added and deleted ones."""

from __future__ import annotations

import linecache
import os
import sys
from collections.abc import Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_file_location
from types import CodeType, ModuleType

from .importing import Compile, OwnFinder, OwnLoader, Territory


class CodeCache:
    """Code objects by file name and text; filled before a fork, used after it."""

    def __init__(self) -> None:
        self.codes: dict[tuple[str, bytes], CodeType] = {}

    def compile(self, source: bytes, filename: str) -> CodeType:
        """The module's code; compiled when it is not here."""
        code = self.codes.get((filename, source))
        if code is None:
            code = compile(source, filename, "exec", dont_inherit=True)
            self.codes[filename, source] = code
        return code


class AddedFinder(MetaPathFinder):
    """Finds modules that exist only in the overlay, and hides those it deletes."""

    def __init__(self, texts: Mapping[str, bytes | None], compiler: Compile) -> None:
        self.added = {path: text for path, text in texts.items() if text is not None}
        self.deleted = {path for path, text in texts.items() if text is None}
        self.compiler = compiler

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """A spec for an added module; None for anything else."""
        del target
        name = fullname.rpartition(".")[2]
        for folder in sys.path if path is None else path:
            base = os.path.join(os.path.abspath(folder or "."), name)  # noqa: PTH100, PTH118 # hot
            for file in (os.path.join(base, "__init__.py"), f"{base}.py"):  # noqa: PTH118 # hot
                if file in self.added:
                    return self._spec(fullname, file)
                if file in self.deleted:
                    continue
                if os.path.exists(file):  # noqa: PTH110 # hot
                    return None
        return None

    def _spec(self, fullname: str, file: str) -> ModuleSpec | None:
        package = file.endswith("__init__.py")
        loader = OwnLoader(fullname, file, self.compiler, self.added)
        locations = [os.path.dirname(file)] if package else None  # noqa: PTH120 # import paths are strings
        return spec_from_file_location(
            fullname, file, loader=loader, submodule_search_locations=locations
        )


class DeletedFinder(OwnFinder):
    """Like the hook for existing files, but a deleted one is not found."""

    def __init__(
        self,
        territory: Territory,
        compiler: Compile,
        texts: Mapping[str, bytes],
        deleted: set[str],
    ) -> None:
        super().__init__(territory, compiler, texts)
        self.deleted = deleted

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """Raises ModuleNotFoundError where only a deleted file would answer."""
        spec = super().find_spec(fullname, path, target)
        if spec is not None and spec.origin in self.deleted:
            raise ModuleNotFoundError(f"No module named {fullname!r}", name=fullname)
        return spec


def lay_over(territory: Territory, compiler: Compile, texts: Mapping[str, bytes | None]) -> None:
    """Make imports and tracebacks of this process see ``texts`` (absolute paths; None: deleted)."""
    added = AddedFinder(texts, compiler)
    existing = DeletedFinder(territory, compiler, added.added, added.deleted)
    sys.meta_path[:0] = [added, existing]
    for path, text in added.added.items():
        lines = text.decode("utf-8", "replace").splitlines(keepends=True)
        linecache.cache[path] = (len(text), None, lines, path)
