"""A suite counted test by test, and its lines ranked by what failed tests executed."""

from afterd.localization.suite.counting import Ran, tell_nobody
from afterd.localization.suite.repository import RankedSuite, RankRequest, rank_suite
from afterd.localization.suite.spectrum import CountedTest, spectrum_of_processes

__all__ = [
    "CountedTest",
    "Ran",
    "RankRequest",
    "RankedSuite",
    "rank_suite",
    "spectrum_of_processes",
    "tell_nobody",
]
