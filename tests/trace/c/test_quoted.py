"""What a test's own text has in quotes."""

from __future__ import annotations

from pathlib import Path

import pytest

from afterd.trace.c.failure.quoted import quoted_texts


@pytest.mark.parametrize(
    ("command", "found"),
    [
        (["sh", "test.sh"], ("^int x;", 'a "b" c')),
        (["sh", "-e", "test.sh"], ("^int x;", 'a "b" c')),
        (["./test.sh"], ("^int x;", 'a "b" c')),
        (["sh", "-c", "./prog | grep -q 'five apples'"], ("five apples",)),
        (["sh", "-c", './prog "$HOME" > "$d/out"; grep "a/b" out'], ()),
        (["./prog", "--option"], ()),  # no text
        (["make", "check"], ()),
    ],
)
def test_the_texts_that_a_test_was_written_with(
    tmp_path: Path, command: list[str], found: tuple[str, ...]
) -> None:
    (tmp_path / "test.sh").write_text("""./prog in.c | grep -q '^int x;'\necho "a \\"b\\" c"\n""")
    (tmp_path / "prog").write_bytes(b"\x7fELF\x02'\xff\xfe'")
    assert quoted_texts(command, tmp_path) == found
