"""What a text defines and needs, without running it: what speaks against a variant before it is run."""

from afterd.trace.python.source.arities import Texts, altered_arities, no_texts
from afterd.trace.python.source.literals import nameless_changes
from afterd.trace.python.source.meanings import altered_meanings
from afterd.trace.python.source.taken import brought, took_away
from afterd.trace.python.source.unbuildable import MissingPieces
from afterd.trace.python.source.variant_check import Lines, VariantCheck

__all__ = [
    "Lines",
    "MissingPieces",
    "Texts",
    "VariantCheck",
    "altered_arities",
    "altered_meanings",
    "brought",
    "nameless_changes",
    "no_texts",
    "took_away",
]
