"""The import hook: the tree's own modules are compiled by us, everything else as ever."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from pathlib import Path
from types import CodeType, ModuleType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import TypeAlias

Compile: TypeAlias = "Callable[[bytes, str], CodeType]"

NEVER = {"site-packages", "dist-packages", ".venv", "venv", ".tox", ".nox", "node_modules"}


class Territory:
    """Which files are the program's own: those of the tree, and of the test where it lies outside the tree."""

    def __init__(
        self, tree: Path, excluded: Sequence[str] = (), beside: Sequence[str] = ()
    ) -> None:
        self.root = str(tree.resolve()) + "/"
        self.excluded = tuple(self.root + folder.strip("/") + "/" for folder in excluded)
        self.beside = frozenset(beside) - {os.path.dirname(os.__file__)}  # noqa: PTH120 # a string, often

    def owns(self, filename: str) -> bool:
        """Below the tree, and not in an environment that happens to live there; or in a folder ``beside`` it."""
        if not filename.startswith(self.root):
            return os.path.dirname(filename) in self.beside  # noqa: PTH120 # a string, often
        if filename.startswith(self.excluded or ("\0",)):
            return False
        return NEVER.isdisjoint(filename[len(self.root) :].split("/"))

    def path(self, filename: str) -> str:
        """What a file of the program is called: its path in the tree, or where it lies outside."""
        if not filename.startswith(self.root) and self.owns(filename):
            return filename
        return Path(os.path.relpath(filename, self.root)).as_posix()


def then(spec: ModuleSpec, act: Callable[[], None]) -> ModuleSpec:
    """The spec of a module, whose import is followed by ``act``."""
    loader: Any = spec.loader
    execute = loader.exec_module

    def exec_module(module: ModuleType) -> None:
        del loader.exec_module
        execute(module)
        act()

    loader.exec_module = exec_module
    return spec


class OwnLoader(SourceFileLoader):
    """Loads one of the tree's modules through ``compiler``; bytecode caches stay untouched."""

    def __init__(self, name: str, path: str, compiler: Compile) -> None:
        super().__init__(name, path)
        self.compiler = compiler

    def get_code(self, fullname: str) -> CodeType:
        """Always compiled from the text, never read from or written to ``__pycache__``."""
        path = self.get_filename(fullname)
        return self.compiler(self.get_data(path), path)


def take_over_loading_by_path(territory: Territory, compiler: Compile) -> None:
    """Compile a module of the program also where it is loaded by its file's path, as tests of scripts do
    (``spec_from_file_location``, ``SourceFileLoader``): no finder is asked for it.
    """
    original = SourceFileLoader.get_code

    def get_code(self: SourceFileLoader, fullname: str) -> CodeType | None:
        path = os.path.abspath(self.path)  # noqa: PTH100 # a string, often
        if type(self) is SourceFileLoader and territory.owns(path):
            return compiler(self.get_data(path), path)
        return original(self, fullname)

    setattr(SourceFileLoader, "get_code", get_code)  # noqa: B010 # mypy sees a method


def take_over_running_by_path(territory: Territory, compiler: Compile) -> None:
    """Compile a file of the program also where ``runpy.run_path`` runs it."""

    def compile_file(source: bytes, filename: str, mode: str) -> CodeType:
        path = os.path.abspath(filename)  # noqa: PTH100 # a string, often
        return compiler(source, path) if territory.owns(path) else compile(source, filename, mode)

    vars(sys.modules["runpy"])["compile"] = compile_file  # before the builtin of that name


class OwnFinder(MetaPathFinder):
    """Asks the finders behind it, and takes over the loading of what is the program's own."""

    def __init__(
        self,
        territory: Territory,
        compiler: Compile,
        asked: Mapping[str, Callable[[], None]] | None = None,
        after: Mapping[str, Callable[[], None]] | None = None,
    ) -> None:
        self.territory = territory
        self.compiler = compiler
        self.asked = asked or {}  # module: what to do when it is about to be imported
        self.after = after or {}  # and what once it was

    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        """The spec that the later finders give, with our loader where the file is the tree's."""
        if fullname in self.asked:
            self.asked[fullname]()
        mine = sys.meta_path.index(self) if self in sys.meta_path else -1
        for finder in sys.meta_path[mine + 1 :]:
            find = getattr(finder, "find_spec", None)
            spec = find(fullname, path, target) if find is not None else None
            if spec is not None:
                act = self.after.get(fullname)
                return self._taken_over(spec) if act is None else then(spec, act)
        return None

    def _taken_over(self, spec: ModuleSpec) -> ModuleSpec:
        origin = spec.origin
        if (
            type(spec.loader) is SourceFileLoader
            and origin is not None
            and self.territory.owns(origin)
        ):
            spec.loader = OwnLoader(spec.name, origin, self.compiler)
        return spec
