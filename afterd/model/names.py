"""Names that a change brings, takes away, and needs: what ties changes together in a text."""

from __future__ import annotations

from dataclasses import dataclass

Name = str
"""``n`` (global), ``.n`` (field), ``f()n`` (local of a function), ``f():n`` (label), ``n/3`` (a function
or macro whose number of parameters differs in the two versions, with three). One with a blank stands for
something else that must be there: a bracket, a file, a header that is included."""


@dataclass(frozen=True, slots=True)
class SideNames:
    """What lines of one version say: ``defines`` gives a name a body, a value or a place; ``declares``
    only tells of it (a prototype, ``extern``). Of what it defines, other files do not see what is ``private``: a type,
    a macro or a static function of a source file.
    """

    defines: frozenset[Name] = frozenset()
    declares: frozenset[Name] = frozenset()
    uses: frozenset[Name] = frozenset()
    private: frozenset[Name] = frozenset()

    @property
    def mentions(self) -> frozenset[Name]:
        """All of them."""
        return self.defines | self.declares | self.uses


@dataclass(frozen=True, slots=True)
class ChangeNames:
    """``old``: the lines that undoing the change brings back; ``new``: those that it takes away; of a ``file``."""

    old: SideNames = SideNames()
    new: SideNames = SideNames()
    file: str = ""
