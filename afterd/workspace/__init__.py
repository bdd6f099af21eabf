"""What an explanation, a suite and a ranking work in: an open repository, its changes, its tests."""

from afterd.workspace.brought_files import words_of_command
from afterd.workspace.named_tests import (
    file_of_test,
    is_asked_for,
    name_of_a_runner,
    typed_names,
)
from afterd.workspace.phases import Phase, PhaseClock
from afterd.workspace.suites import (
    FailingTest,
    Suite,
    SuiteRun,
    build_of,
    detected_tests,
    given_recipe,
    is_python_suite,
    is_uncounted_suite,
    python_request,
    recipe_in_container,
    run_suite,
    started_python,
    suite_of,
    to_come_to_the_end,
    unbuilt_checkout,
)
from afterd.workspace.test_command import typed_command
from afterd.workspace.whole_command import uncut_command
from afterd.workspace.workspace import (
    Range,
    Workspace,
    contents_of,
    opened_workspace,
    range_between,
    wanted_range,
)

__all__ = [
    "FailingTest",
    "Phase",
    "PhaseClock",
    "Range",
    "Suite",
    "SuiteRun",
    "Workspace",
    "build_of",
    "contents_of",
    "detected_tests",
    "file_of_test",
    "given_recipe",
    "is_asked_for",
    "is_python_suite",
    "is_uncounted_suite",
    "name_of_a_runner",
    "opened_workspace",
    "python_request",
    "range_between",
    "recipe_in_container",
    "run_suite",
    "started_python",
    "suite_of",
    "to_come_to_the_end",
    "typed_command",
    "typed_names",
    "unbuilt_checkout",
    "uncut_command",
    "wanted_range",
    "words_of_command",
]
