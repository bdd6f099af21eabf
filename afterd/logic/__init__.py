"""The only package that knows z3 and python-sat: weakest preconditions, cores, MaxSAT."""

import importlib
from typing import TYPE_CHECKING

from afterd.logic.infix import infix

if TYPE_CHECKING:
    from afterd.logic.constraint import Constraint, Kind, Problem, Unsatisfiable
    from afterd.logic.correction import Corrections, Diagnosis, Found, merged_formulas
    from afterd.logic.encoding import Encoded, Encoding
    from afterd.logic.evaluation import UNKNOWN, Evaluator, evaluate, same_value, signed_value
    from afterd.logic.gates import TRUE, Word
    from afterd.logic.maxsat import MaxSat
    from afterd.logic.program_formula import (
        Branch,
        Definition,
        Frontier,
        PathCondition,
        ProgramFormula,
        Statement,
        TooLargeError,
        Violated,
        formula_suspecting,
    )
    from afterd.logic.solver import Solver
    from afterd.logic.terms import distinct_reads

__all__ = [
    "TRUE",
    "UNKNOWN",
    "Branch",
    "Constraint",
    "Corrections",
    "Definition",
    "Diagnosis",
    "Encoded",
    "Encoding",
    "Evaluator",
    "Found",
    "Frontier",
    "Kind",
    "MaxSat",
    "PathCondition",
    "Problem",
    "ProgramFormula",
    "Solver",
    "Statement",
    "TooLargeError",
    "Unsatisfiable",
    "Violated",
    "Word",
    "distinct_reads",
    "evaluate",
    "formula_suspecting",
    "infix",
    "merged_formulas",
    "same_value",
    "signed_value",
]

_MODULES = {
    "Constraint": "constraint",
    "Kind": "constraint",
    "Problem": "constraint",
    "Unsatisfiable": "constraint",
    "Corrections": "correction",
    "Diagnosis": "correction",
    "Found": "correction",
    "merged_formulas": "correction",
    "Encoded": "encoding",
    "Encoding": "encoding",
    "UNKNOWN": "evaluation",
    "Evaluator": "evaluation",
    "evaluate": "evaluation",
    "same_value": "evaluation",
    "signed_value": "evaluation",
    "TRUE": "gates",
    "Word": "gates",
    "MaxSat": "maxsat",
    "Branch": "program_formula",
    "Definition": "program_formula",
    "Frontier": "program_formula",
    "PathCondition": "program_formula",
    "ProgramFormula": "program_formula",
    "Statement": "program_formula",
    "TooLargeError": "program_formula",
    "Violated": "program_formula",
    "formula_suspecting": "program_formula",
    "Solver": "solver",
    "distinct_reads": "terms",
}


def __getattr__(name: str) -> object:
    """A name's module is imported when it is asked for: the solvers' own processes need few of them."""
    if name not in _MODULES:
        raise AttributeError(name)
    return getattr(importlib.import_module(f"afterd.logic.{_MODULES[name]}"), name)
