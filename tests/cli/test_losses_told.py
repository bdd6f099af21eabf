"""What is lost on the way is told to the user, once of each thing."""

from __future__ import annotations

import pytest

from afterd.cli.answers import losses_told
from afterd.cli.options import Loudness
from afterd.execution.losses import tell_loss


@pytest.mark.parametrize(("loudness", "times"), [(Loudness.USUAL, 1), (Loudness.QUIET, 0)])
def test_a_loss_is_told_once(
    loudness: Loudness, times: int, capsys: pytest.CaptureFixture[str]
) -> None:
    """A test that takes all memory is killed each time it is run: three lines said the same."""
    with losses_told(loudness):
        for number in (1, 2, 3):
            tell_loss("The run of `./eat [all]`", "it was killed", number, 3)
        tell_loss("A warm process", "it was killed", 1, 3)
    told = capsys.readouterr().err
    assert (
        told.count("The run of `./eat [all]` was lost (it was killed); it is made again") == times
    )
    assert told.count("A warm process was lost") == times
