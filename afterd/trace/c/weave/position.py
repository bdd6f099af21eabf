"""Where the next record goes, while a function's text is written: a register and a distance from it.

Distances are constants, so that a record is two stores and moves nothing. Between two blocks the place is
in ``%afterd.at``; wherever control may go where the thread's cursor is read, it is there (``commit``).

Room is looked for where the records since the last look may be too many on some way through the function,
where a loop begins again, and behind each call.
"""

from __future__ import annotations

from afterd.trace.c.window import records

STRETCH = 200
"""Records written between two looks at the limit, at most: fewer than runtime.c's SLACK."""

_SIZE = 16


class Position:
    """Writes into ``lines``; what hardly ever happens goes to ``rare``, which ends the function."""

    def __init__(self, lines: list[str]) -> None:
        self.lines = lines
        self.rare: list[str] = []
        self.label = ""  # of the block that is being written
        self.stretch = 0  # records since the last look, on the longest way
        self._base = ""
        self._distance = 0
        self._kept = True  # whether %afterd.at is the place
        self._fresh = 0

    def register(self) -> str:
        """A name that the function has not."""
        self._fresh += 1
        return f"%afterd.{self._fresh}"

    def begin(self, label: str, stretch: int) -> None:
        """A block of the program begins, to which ``stretch`` records lead without a look."""
        self.label, self.stretch = label, stretch
        self._base, self._distance, self._kept = "", 0, True

    def record(self, word: str, value: str = "") -> None:
        """Write one record; a second word of zero is there already."""
        if self.stretch >= STRETCH:
            self.room()
        self.stretch += 1
        self.lines.append(f"  store i64 {word}, ptr {self.place()}, align 8")
        if value and value != "0":
            self.lines.append(f"  store i64 {value}, ptr {self.place(8)}, align 8")
        self._distance += _SIZE
        self._kept = False

    def identified(self, tag: int, identifier: int, value: str = "") -> None:
        """Write a record that carries an id and the call depth."""
        word = self.register()
        constant = signed(records.identified_tag_word(tag, identifier))
        self.lines.append(f"  {word} = or i64 %afterd.wide, {constant}")
        self.record(word, value)

    def place(self, beyond: int = 0) -> str:
        """The address of the next record, or of what is so many bytes beyond it."""
        if not self._base:
            self._base = self.register()
            self.lines.append(f"  {self._base} = load ptr, ptr %afterd.at, align 8")
        if not self._distance + beyond:
            return self._base
        made = self.register()
        self.lines.append(
            f"  {made} = getelementptr i8, ptr {self._base}, i64 {self._distance + beyond}"
        )
        return made

    def look(self, held: str, beyond: int = 0) -> None:
        """What is at ``held`` may have to be another value, where the record before the place (or so many
        bytes beyond it) is the one that is asked for.
        """
        place, asked, found = self.place(beyond), self.register(), self.register()
        self.lines += [
            f"  {asked} = load ptr, ptr @__afterd_asked, align 8",
            f"  {found} = icmp eq ptr {place}, {asked}",
        ]
        self._unless(found, f"  call void @__afterd_replace(ptr {held})")

    def decide(self, held: str) -> None:
        """The same just before the record of what it decides."""
        self.look(held, _SIZE)

    def room(self) -> None:
        """Look whether there is room for the records of another stretch."""
        place, limit, full, moved = self.place(), *(self.register() for _ in range(3))
        self.leave(place)
        self.lines += [
            f"  {limit} = load ptr, ptr %afterd.limit, align 8",
            f"  {full} = icmp uge ptr {place}, {limit}",
        ]
        self._unless(
            full,
            f"  {moved} = call ptr @__afterd_full(ptr {place})",
            f"  store ptr {moved}, ptr %afterd.at, align 8",
        )
        self._base, self._distance, self.stretch = "", 0, 0

    def enter(self) -> None:
        """The function begins: the place is the thread's cursor, where it and its room are as they should."""
        self.reload()
        place, moved, word, limit = self._base, *(self.register() for _ in range(3))
        used, full, either = (self.register() for _ in range(3))
        self.leave(place)
        self.lines += [
            f"  {word} = load i64, ptr {place}, align 8",
            f"  {limit} = load ptr, ptr %afterd.limit, align 8",
            f"  {used} = icmp ne i64 {word}, 0",
            f"  {full} = icmp uge ptr {place}, {limit}",
            f"  {either} = or i1 {used}, {full}",
        ]
        self._unless(
            either,
            f"  {moved} = call ptr @__afterd_entered(ptr {place}, ptr %afterd.limit)",
            f"  store ptr {moved}, ptr %afterd.at, align 8",
        )
        self._base, self.stretch = "", 0

    def reload(self) -> None:
        """Control came from where the thread's cursor was moved."""
        self._base, self._distance, self._kept = self.register(), 0, False
        self.lines.append(f"  {self._base} = load volatile ptr, ptr %afterd.thread, align 8")

    def commit(self) -> None:
        """Control goes where the thread's cursor is read."""
        self.lines.append(f"  store volatile ptr {self.place()}, ptr %afterd.thread, align 8")

    def leave(self, place: str = "") -> None:
        """Control goes to another block; ``place`` where it is known already."""
        if not self._kept:
            self.lines.append(f"  store ptr {place or self.place()}, ptr %afterd.at, align 8")
            self._kept = True

    def part(self, label: str) -> None:
        """The block goes on under another label."""
        self.label = label
        self.lines.append(f"{label}:")

    def _unless(self, rarely: str, *done: str) -> None:
        """Do something where the condition is true, and go on in a new part of the block."""
        name = rarely.removeprefix("%")
        self.lines.append(f"  br i1 {rarely}, label %{name}.rare, label %{name}.on")
        self.rare += [f"{name}.rare:", *done, f"  br label %{name}.on"]
        self.part(f"{name}.on")


def signed(word: int) -> int:
    """A word of 64 bits as LLVM writes it."""
    return word - (1 << 64) if word >> 63 else word
