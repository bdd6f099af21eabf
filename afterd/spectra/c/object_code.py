"""Bitcode to an object file that counts, in afterd-cc's child: see trace/c/build/object_code.py."""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm

from afterd.spectra.c.weave import counting
from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.build.object_code import machine_for, named_text

BITS = "counter-bits"
"""The file of a build's store that makes it a counted build; it holds the width of a counter."""


def counted_object(bitcode: bytes, source: str, store: ModuleStore) -> bytes:
    """The object file of the module with counters; its IR and its numbers go into the store."""
    text, triple = named_text(bitcode)
    bits = int((store.directory / BITS).read_text())
    made = store.add(text, source, str(Path.cwd()), counting(text, bits))
    module = llvm.parse_assembly(made.text)
    module.verify()
    return bytes(machine_for(triple, 0).emit_object(module))


def write_object(bitcode: str, source: str, store: str, target: str) -> None:
    """The child of afterd-cc."""
    made = counted_object(Path(bitcode).read_bytes(), source, ModuleStore(Path(store)))
    temporary = Path(f"{target}.afterd")
    temporary.write_bytes(made)
    temporary.replace(target)
