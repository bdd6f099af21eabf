"""pytest of before 2023, whose hooks know no ``wrapper``."""

from __future__ import annotations

import importlib.util
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from afterd.trace.python import record

Hook = Callable[..., object]


def hookimpl(
    function: Hook | None = None,
    *,
    hookwrapper: bool = False,  # noqa: ARG001 - the signature is what matters
    optionalhook: bool = False,  # noqa: ARG001 - as above
    tryfirst: bool = False,  # noqa: ARG001 - as above
    trylast: bool = False,  # noqa: ARG001 - as above
) -> Any:  # noqa: ANN401 - a decorator, or what it decorates
    """As in pluggy 1.0 and older."""
    return function or (lambda each: each)


@pytest.mark.parametrize("module", ["pytest_plugin", "fixtures"])
def test_what_records_tests_is_loaded(module: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pytest, "hookimpl", hookimpl)
    path = Path(record.__file__).parent / f"{module}.py"
    spec = importlib.util.spec_from_file_location(f"{record.__name__}.{module}_again", path)
    assert spec is not None
    assert spec.loader is not None
    spec.loader.exec_module(importlib.util.module_from_spec(spec))
