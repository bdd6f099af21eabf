"""Five people at work on one repository: what they commit, amend, rebase, merge and push, by a seed."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pygit2

from afterd.bench.budgets import DAY
from afterd.bench.day_project import (
    BASE,
    SCALE,
    Fault,
    Project,
    State,
    base_of,
    fault_of,
    merged_choices,
)

MAIN = "refs/heads/main"
_PEOPLE = ("Ada", "Ben", "Cem", "Dua", "Eva")
_OTHER_BASE = "20"  # more than a wrong function or a flaky one makes good
_MORNING = 1_700_000_000
_HIDING = (Fault.HANGS, Fault.UNBUILDABLE)  # what keeps others from being seen, and is mended soon


@dataclass(frozen=True, slots=True)
class Event:
    """One push: ``commit`` is the new tip of ``ref``. ``what`` says how it was made."""

    commit: str
    ref: str
    what: str


class People:
    """A project's repository, bare as at a forge, and what stands in each commit of it (``states``)."""

    def __init__(self, project: Project, path: Path, seed: int) -> None:
        self.project = project
        self._chance = random.Random(f"{project.name} {seed}")  # noqa: S311 - no secret
        self.repository = pygit2.init_repository(path, bare=True, initial_head="main")
        self.states: dict[str, State] = {}
        self._minute = 0
        self._commit(MAIN, {}, (), _PEOPLE[0], "The first version")

    def day(self, commits: int) -> Iterator[Event]:
        """So many pushes, each made when it is asked for; the last ones are of the main branch."""
        actions = (self._work, self._amend, self._rebase, self._merge, self._on_main, self._clash)
        weights = (9, 2, 2, 4, 5, 1)
        made = 0
        while made < commits:
            person = self._chance.choice(_PEOPLE)
            [action] = self._chance.choices(actions, weights)
            for event in action(person):
                yield event
                made += 1

    def _work(self, person: str) -> Sequence[Event]:
        """A commit on one's own branch."""
        ref = _branch(person)
        tip = self._tip(ref) or self._tip(MAIN)
        return [self._push(ref, self._changed(self.states[tip]), (tip,), person, "commit")]

    def _on_main(self, person: str) -> Sequence[Event]:
        tip = self._tip(MAIN)
        return [self._push(MAIN, self._changed(self.states[tip]), (tip,), person, "commit")]

    def _amend(self, person: str) -> Sequence[Event]:
        """The tip of one's branch made again, pushed by force."""
        tip = self._tip(_branch(person))
        if not tip or tip == self._tip(MAIN):
            return []
        parents = tuple(map(str, self.repository[tip].peel(pygit2.Commit).parent_ids))
        state = self._changed(self.states[tip])
        return [self._push(_branch(person), state, parents, person, "amend")]

    def _rebase(self, person: str) -> Sequence[Event]:
        """One's branch as one commit on top of the main branch, pushed by force."""
        tip, main = self._tip(_branch(person)), self._tip(MAIN)
        if not tip or tip == main:
            return []
        state = merged_choices(self._common(tip, main), self.states[main], self.states[tip])
        return [self._push(_branch(person), state, (main,), person, "rebase")]

    def _merge(self, person: str) -> Sequence[Event]:
        """One's branch merged into the main branch; the branch begins there again."""
        tip, main = self._tip(_branch(person)), self._tip(MAIN)
        if not tip or tip == main:
            return []
        state = merged_choices(self._common(tip, main), self.states[main], self.states[tip])
        event = self._push(MAIN, state, (main, tip), person, "merge")
        self._set(_branch(person), event.commit)
        return [event]

    def _clash(self, person: str) -> Iterator[Event]:
        """Two branches that are green alone and red together: another scale, and a line that counts on it."""
        other = _PEOPLE[(_PEOPLE.index(person) + 1) % len(_PEOPLE)]
        main = self._tip(MAIN)
        before = self.states[main]
        if before.get("scale", SCALE) != SCALE or before.get("half"):
            mended = {**before, "scale": SCALE, "half": ""}
            yield self._push(MAIN, mended, (main,), person, "commit")
            return
        for who, key, value in ((person, "scale", "100"), (other, "half", "5")):
            yield self._push(_branch(who), {**before, key: value}, (main,), who, "commit")
        yield from self._merge(person)
        yield from self._merge(other)

    def _changed(self, before: State) -> dict[str, str]:
        """What one commit does: mend, break, or neither."""
        state = dict(before)
        state["notes"] = str(self._minute)
        project = self.project
        faulty = [number for number in range(project.functions) if fault_of(state, number)]
        for number in faulty:
            hides = fault_of(state, number) in _HIDING
            if self._chance.random() < (0.8 if hides else 0.3):
                state[f"line {number}"] = ""
        if len(faulty) < DAY.faults and self._chance.random() < 0.4:
            [fault] = self._chance.choices(tuple(project.faults), tuple(project.faults.values()))
            state[f"line {self._chance.randrange(project.functions)}"] = fault.value
        self._change_a_base(state)
        module = self._chance.randrange(project.modules)
        state[f"remark {module}"] = str(self._minute)
        if self._chance.random() < 0.1:
            state[f"pause {module}"] = self._chance.choice(("0.001", "0.005", "0.02"))
        return state

    def _change_a_base(self, state: dict[str, str]) -> None:
        """Mend what breaks all tests of a module, or now and then break one so."""
        project = self.project
        if broken := [each for each in range(project.modules) if base_of(state, each) != BASE]:
            if self._chance.random() < DAY.based_mended:
                state[f"base {broken[0]}"] = BASE
        elif self._chance.random() < DAY.based:
            state[f"base {self._chance.randrange(project.modules)}"] = _OTHER_BASE

    def _push(
        self, ref: str, state: State, parents: tuple[str, ...], person: str, what: str
    ) -> Event:
        return Event(self._commit(ref, state, parents, person, what), ref, what)

    def _commit(
        self, ref: str, state: State, parents: tuple[str, ...], person: str, message: str
    ) -> str:
        builder = self.repository.TreeBuilder()
        for name, content in self.project.files(state).items():
            blob = self.repository.create_blob(content.encode())
            builder.insert(name, blob, pygit2.enums.FileMode.BLOB)
        self._minute += 1
        email = f"{person.lower()}@example.org"
        who = pygit2.Signature(person, email, _MORNING + 60 * self._minute, 0)
        oids: list[pygit2.Oid | str] = [pygit2.Oid(hex=each) for each in parents]
        made = self.repository.create_commit(None, who, who, f"{message}\n", builder.write(), oids)
        self.states[str(made)] = state
        self._set(ref, str(made))
        return str(made)

    def _set(self, ref: str, commit: str) -> None:
        self.repository.references.create(ref, pygit2.Oid(hex=commit), force=True)

    def _tip(self, ref: str) -> str:
        found = self.repository.references.get(ref)
        return str(found.target) if found else ""

    def tips(self) -> set[str]:
        """Where the branches are."""
        references = self.repository.references
        return {str(references[name].target) for name in references}

    def _common(self, one: str, other: str) -> State:
        base = self.repository.merge_base(pygit2.Oid(hex=one), pygit2.Oid(hex=other))
        return self.states[str(base)]


def _branch(person: str) -> str:
    return f"refs/heads/{person.lower()}"
