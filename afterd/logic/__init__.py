"""The only package that knows z3 and python-sat: weakest preconditions, cores, MaxSAT."""

from afterd.logic.constraint import Constraint, Kind, Problem, Unsatisfiable
from afterd.logic.correction import Corrections, Diagnosis, Found, merged_formulas
from afterd.logic.encoding import Encoded, Encoding
from afterd.logic.evaluation import UNKNOWN, Evaluator, evaluate, same_value, signed_value
from afterd.logic.gates import TRUE, Word
from afterd.logic.infix import infix
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
