"""A program's formula: LLVM IR executed on one input, with the terms of what it computed beside."""

from afterd.symbolic.failing import FailingRun
from afterd.symbolic.frames import Bounds
from afterd.symbolic.loading import Image
from afterd.symbolic.observing import Expectation
from afterd.symbolic.python.lifted import (
    NAME,
    SEEN,
    LiftedTest,
    NotLiftedError,
    lifted_test,
    lines_of_numbers,
    read_seen,
)
from afterd.symbolic.refusal import NotFollowedError, TooLongError
from afterd.symbolic.strings import printed_bytes
from afterd.symbolic.trials import Trial, Trials
from afterd.symbolic.unrolling import Program, Shown, load
from afterd.symbolic.world import Input

__all__ = [
    "NAME",
    "SEEN",
    "Bounds",
    "Expectation",
    "FailingRun",
    "Image",
    "Input",
    "LiftedTest",
    "NotFollowedError",
    "NotLiftedError",
    "Program",
    "Shown",
    "TooLongError",
    "Trial",
    "Trials",
    "lifted_test",
    "lines_of_numbers",
    "load",
    "printed_bytes",
    "read_seen",
]
