"""The calls that are woven into a module so that it records its own execution."""

from afterd.trace.c.weave.instrument import (
    Counted,
    Instrumented,
    NumberedFunction,
    structs,
    unrecordable_functions,
)
from afterd.trace.c.weave.structors import with_constructor
from afterd.trace.c.weave.weaver import Numbers

__all__ = [
    "Counted",
    "Instrumented",
    "NumberedFunction",
    "Numbers",
    "structs",
    "unrecordable_functions",
    "with_constructor",
]
