"""Records as steps in SSA form: frames, registers, memory, statements and the branches that decided them."""

from afterd.trace.c.read.allocations import Allocated
from afterd.trace.c.read.formats import (
    MESSAGES,
    WRITTEN,
    Conversion,
    argument,
    conversions,
    format_of,
)
from afterd.trace.c.read.frames import Call, Frames, Instance
from afterd.trace.c.read.influence import Influence
from afterd.trace.c.read.inner_branches import choices
from afterd.trace.c.read.libc import allocates, plain_name, reads_clock
from afterd.trace.c.read.process import Process, partners, recorded_processes
from afterd.trace.c.read.program import DEFINITION, FunctionView, Program, Unit
from afterd.trace.c.read.statements import Passed, Statement
from afterd.trace.c.read.steps import StepIds
from afterd.trace.c.read.symbols import (
    Placed,
    in_variable_of_both,
    initial_counterpart,
    is_initial_alike,
    same_address,
)
from afterd.trace.c.read.values import known_value

__all__ = [
    "DEFINITION",
    "MESSAGES",
    "WRITTEN",
    "Allocated",
    "Call",
    "Conversion",
    "Frames",
    "FunctionView",
    "Influence",
    "Instance",
    "Passed",
    "Placed",
    "Process",
    "Program",
    "Statement",
    "StepIds",
    "Unit",
    "allocates",
    "argument",
    "choices",
    "conversions",
    "format_of",
    "in_variable_of_both",
    "initial_counterpart",
    "is_initial_alike",
    "known_value",
    "partners",
    "plain_name",
    "reads_clock",
    "recorded_processes",
    "same_address",
]
