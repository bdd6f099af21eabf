"""Rows as steps in SSA form: frames, names, attributes, contents, terms and branches."""

from afterd.trace.python.read.births import FIRST_SEEN_IN
from afterd.trace.python.read.evaluation import constant
from afterd.trace.python.read.frames import Frame
from afterd.trace.python.read.influence import Influence
from afterd.trace.python.read.methods import called_method, function_for_effect
from afterd.trace.python.read.names import definition_row
from afterd.trace.python.read.parameters import is_generator, takes_the_rest
from afterd.trace.python.read.program import (
    BLOCKS,
    BUILTIN,
    FRAMES,
    FUNCTIONS,
    IMPORTS,
    MODULE_SCOPE,
    Module,
    Node,
    bound_name,
    qualified_name,
)
from afterd.trace.python.read.purity import is_unchanging, may_write, pure_function
from afterd.trace.python.read.ssa import Steps, location, statement_text
from afterd.trace.python.read.trace import Trace
from afterd.trace.python.read.tracefile import Recorded
from afterd.trace.python.read.values import (
    CONTAINERS,
    UNKNOWN,
    Comparison,
    Unknown,
    identity,
    is_container,
    plain_value,
    recorded_items,
    recorded_pairs,
    render,
    same_object,
)

__all__ = [
    "BLOCKS",
    "BUILTIN",
    "CONTAINERS",
    "FIRST_SEEN_IN",
    "FRAMES",
    "FUNCTIONS",
    "IMPORTS",
    "MODULE_SCOPE",
    "UNKNOWN",
    "Comparison",
    "Frame",
    "Influence",
    "Module",
    "Node",
    "Recorded",
    "Steps",
    "Trace",
    "Unknown",
    "bound_name",
    "called_method",
    "constant",
    "definition_row",
    "function_for_effect",
    "identity",
    "is_container",
    "is_generator",
    "is_unchanging",
    "location",
    "may_write",
    "plain_value",
    "pure_function",
    "qualified_name",
    "recorded_items",
    "recorded_pairs",
    "render",
    "same_object",
    "statement_text",
    "takes_the_rest",
]
