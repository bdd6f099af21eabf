"""Ctrl-C as a word to stop, real signals."""

from __future__ import annotations

import os
import signal

import pytest

from afterd.localization.votes.sat_tar_rounds import stopped_by_interrupt


def test_the_first_says_stop_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGINT)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with stopped_by_interrupt() as go_on:
            assert go_on()
            os.kill(os.getpid(), signal.SIGINT)
            assert not go_on()
            with pytest.raises(KeyboardInterrupt):
                os.kill(os.getpid(), signal.SIGINT)
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)
