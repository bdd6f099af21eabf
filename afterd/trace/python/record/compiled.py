"""From a module's text to instrumented code and its exported tree, both cached by fingerprint."""

from __future__ import annotations

import _imp
import ast
import json
import marshal
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType
from typing import TYPE_CHECKING

from .importing import Territory
from .instrument import Instrumenter
from .replacing import Replacement
from .rows import fingerprint
from .slices import unwrap_slices, wrap_slices
from .tree import NumberedTree

if TYPE_CHECKING:
    from typing import TypeAlias

Rewrite: TypeAlias = "Callable[[ast.Module, bytes], None]"  # pytest's assertion rewriting


class Compiler:
    """Compiles modules of the ``territory`` and remembers which it compiled.

    The module of which a value is ``replaced`` is compiled for this run alone.
    """

    def __init__(
        self, territory: Territory, cache: Path, replaced: Replacement | None = None
    ) -> None:
        self.territory = territory
        self.cache = cache
        self.replaced = replaced
        self.modules: dict[
            int, tuple[str, str]
        ] = {}  # fingerprint: (path, see ``Territory``; file name)
        self.refused: dict[str, str] = {}  # path: why it runs uninstrumented
        cache.mkdir(parents=True, exist_ok=True)

    def compile(
        self, source: bytes, filename: str, rewrite: Rewrite | None = None, *, flavour: str = ""
    ) -> CodeType:
        """Instrumented code; plain code where instrumentation is impossible (and why is noted).

        ``flavour`` tells apart what ``rewrite`` does. Raises what ``compile`` raises on the text.
        """
        path = self.territory.path(filename)
        module = fingerprint(path + "\0" + flavour, source)
        name = f"{module:x}-{sys.implementation.cache_tag}"
        cached = self.cache / f"{name}.code"
        own = self.replaced is not None and self.replaced.module == module
        exported = (self.cache / f"{name}.json", self.cache / f"{name}.lines")
        known = not own and all(file.exists() for file in exported)
        code = _read_code(cached, filename) if known else None
        if code is None:
            code = self._instrument(source, filename, rewrite, module)
            if path in self.refused:
                return code
            if not own:
                _write(cached, marshal.dumps(code))
        self.modules[module] = (path, name)
        return code

    def _instrument(
        self, source: bytes, filename: str, rewrite: Rewrite | None, module: int
    ) -> CodeType:
        tree = ast.parse(source, filename)
        if rewrite is not None:
            rewrite(tree, source)
        unwrap_slices(tree)
        try:
            numbered = NumberedTree(tree)
            exported, lines = numbered.export(), numbered.lines()
            replaced = -1 if self.replaced is None else self.replaced.site
            instrumented = Instrumenter(numbered, module, replaced).run()
            wrap_slices(instrumented)
            code = compile(instrumented, filename, "exec", dont_inherit=True)
        except (RecursionError, ValueError) as error:
            self.refused[self.territory.path(filename)] = str(error)
            return self._plain(source, filename, rewrite)
        text = source.decode("utf-8", "replace").splitlines()
        name = f"{module:x}-{sys.implementation.cache_tag}"
        _write(self.cache / f"{name}.lines", lines.tobytes())
        _write(self.cache / f"{name}.json", json.dumps({"tree": exported, "text": text}).encode())
        return code

    def _plain(self, source: bytes, filename: str, rewrite: Rewrite | None) -> CodeType:
        tree = ast.parse(source, filename)
        if rewrite is not None:
            rewrite(tree, source)
        return compile(tree, filename, "exec", dont_inherit=True)


def _read_code(path: Path, filename: str) -> CodeType | None:
    """The code in a file, as of the module at ``filename``: in each tree a module lies elsewhere."""
    try:
        code = marshal.loads(path.read_bytes())  # noqa: S302 # written by this runtime, read by it
    except (OSError, ValueError, EOFError, TypeError):
        return None
    if not isinstance(code, CodeType):
        return None
    _imp._fix_co_filename(code, filename)  # type: ignore[attr-defined] # noqa: SLF001 # as importlib does
    return code


def _write(path: Path, content: bytes) -> None:
    """Write, then rename: several processes share the cache."""
    temporary = path.with_name(f"{path.name}.{os.getpid()}")
    temporary.write_bytes(content)
    temporary.replace(path)
