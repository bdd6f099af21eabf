"""Bitcode to an instrumented object file, through llvmlite, in the process that calls it.

Either parsing or code generation can end a process (a bad inline-asm mnemonic exits, a type nested
20,000 deep is a SIGSEGV: references/reliability.md, section 15), so only afterd-cc's child calls it.
"""

from __future__ import annotations

from pathlib import Path

import llvmlite.binding as llvm

from afterd.trace.c.build.modules import ModuleStore
from afterd.trace.c.weave.instrument import instrument, structs
from afterd.trace.c.weave.lowered import lowered_module


def named_text(bitcode: bytes) -> tuple[str, str]:
    """The module's IR with every value named, and its triple. RuntimeError when it cannot be read."""
    module = llvm.parse_bitcode(bitcode)
    passes = llvm.create_new_module_pass_manager()
    passes.add_instruction_namer_pass()
    builder = llvm.create_pass_builder(
        machine_for(module.triple, 0), llvm.create_pipeline_tuning_options()
    )
    passes.run(module, builder)
    return str(module), module.triple


def instrumented_object(bitcode: bytes, source: str, store: ModuleStore) -> bytes:
    """The object file of the instrumented module; its IR and its ids go into the store."""
    text, triple = named_text(bitcode)
    text = lowered_module(text, structs(text))
    made = store.add(text, source, str(Path.cwd()), instrument(text))
    module = llvm.parse_assembly(made.text)
    module.verify()
    # Better code is not worth its price: a recording waits for memory, and is 5 % faster for it
    # while making the object takes almost four times as long (2.6 s and 0.7 s for jq's execute.c).
    return bytes(machine_for(triple, 0).emit_object(module))


def write_object(bitcode: str, source: str, store: str, target: str) -> None:
    """The child of afterd-cc: the only process that LLVM may take down with it."""
    made = instrumented_object(Path(bitcode).read_bytes(), source, ModuleStore(Path(store)))
    temporary = Path(f"{target}.afterd")
    temporary.write_bytes(made)
    temporary.replace(target)


def machine_for(triple: str, level: int) -> llvm.TargetMachine:
    """The code generator of a triple at an optimisation level from 0 to 3."""
    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    llvm.initialize_native_asmparser()  # without it, inline assembly ends the process
    return llvm.Target.from_triple(triple).create_target_machine(
        opt=level, reloc="pic", codemodel="small"
    )
