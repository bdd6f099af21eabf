"""A traced program does what it does untraced: nothing that is recorded changes what is observed."""

from __future__ import annotations

import pytest
from traced_programs import SINGLE, Built, run


@pytest.mark.parametrize("name", [path.stem for path in SINGLE])
def test_it_behaves_as_if_it_were_not_traced(corpus: dict[str, Built], name: str) -> None:
    if name not in corpus:
        pytest.skip("C++ is shown on the other compiler")
    built = corpus[name]
    expected = run([built.plain], built.plain.parent)
    assert expected.output, "a program that shows nothing shows no difference"
    assert run([built.traced], built.traced.parent).behaviour == expected.behaviour
    assert built.recorded[0].behaviour == expected.behaviour
    assert any(process.recording.end for process in built.processes), "nothing was recorded"
