"""What an environment lacks, read from what a failed test or its runner said.

A test that fails at the good version for want of a module, a plugin's fixture or a tool says nothing of
the range. Names that the project itself defines are never lacking in the environment.
"""

from __future__ import annotations

import re
import shlex
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from afterd.execution.failures.text import A_TEMPORARY_PATH

MODULE = "the module"
_MODULE = re.compile(r"No module named '?([\w.]+)'?")
_MOVED = re.compile(
    r"cannot import name '\w+' from (?:partially initialized module )?'(\w+)[\w.]*' \((\S*-packages/\S*)\)"
)
_METADATA = re.compile(
    r"(?:PackageNotFoundError: (?:No package metadata was found for )?|DistributionNotFound: The ')([\w.-]+)"
)
_FIXTURE = re.compile(r"fixture '(\w+)' not found")
_OPTION = re.compile(r"(?:unrecognized arguments?|unknown option):? (.+)")
_SETTING = re.compile(r"Unknown config option: (\w+)")
_REQUIRED = re.compile(r"Missing required plugins?: ([\w.-]+)")
_UNFIT = re.compile(r"PluginValidationError|ImportError: cannot import name '\w+' from '_pytest")
_NOT_STARTED = re.compile(
    r"runpy(?:\.py|>)\", line \d+, in _run_module_as_main\n(?: .*\n)*?"
    r" .*-packages/_?(?P<runner>pytest)/.*\n(?: .*\n)*(?P<error>\w*Error: .*)"
)
"""The runner died while it was imported: no test of it can show a frame of ``runpy``."""
_ASYNC = "async def functions are not natively supported"
_TOOL = re.compile(rf"No such file or directory: '(?!{A_TEMPORARY_PATH}')([\w.+-]+)'")
_SHELL = re.compile(r"\b(?:sh|bash|dash)(?:: (?:line )?\d+)?: ([\w.+-]+): (?:command )?not found")
_OF_NODE = re.compile(r"Cannot find (?:module|package) '((?:@[\w.-]+/)?\w[\w.-]*)(?:/[^']*)?'")
_OF_PERL = re.compile(r"Can't locate ([\w/]+)\.pm in @INC")
_OF_GO = re.compile(
    r"no required module provides package (?P<needed>[^\s;]+)"
    r"|missing go\.sum entry for (?:go\.mod file|module providing package (?P<summed>[^\s;]+))"
    r"|^go: (?P<fetched>[\w./~-]+\.[\w./~-]+@\S+): Get \"",
    re.MULTILINE,
)
_OF_UV = re.compile(r"^uv *=", re.MULTILINE)
_PYTHON = re.compile(r"(?:python|pypy|pytest|py\.test)[\d.]*")
_NETWORK_ADMIN = re.compile(
    r"RTNETLINK answers: Operation not permitted|\bSIOCS\w+\)?: Operation not permitted"
)
_LIBRARY = re.compile(r"(lib[\w.+-]+\.so[\w.]*): cannot open shared object file")

_OF_FIXTURE = {
    "aiohttp_client": "pytest-aiohttp",
    "anyio_backend": "anyio",
    "benchmark": "pytest-benchmark",
    "data_regression": "pytest-regressions",
    "datadir": "pytest-datadir",
    "db": "pytest-django",
    "event_loop": "pytest-asyncio",
    "faker": "Faker",
    "freezer": "pytest-freezer",
    "fs": "pyfakefs",
    "httpbin": "pytest-httpbin",
    "httpserver": "pytest-httpserver",
    "httpx_mock": "pytest-httpx",
    "live_server": "pytest-django",
    "mocker": "pytest-mock",
    "qtbot": "pytest-qt",
    "requests_mock": "requests-mock",
    "respx_mock": "respx",
    "script_runner": "pytest-console-scripts",
    "shared_datadir": "pytest-datadir",
    "snapshot": "syrupy",
    "subtests": "pytest-subtests",
}
_OF_OPTION = {
    "--asyncio": "pytest-asyncio",
    "--benchmark": "pytest-benchmark",
    "--cov": "pytest-cov",
    "--disable-socket": "pytest-socket",
    "--dist": "pytest-xdist",
    "--doctest-plus": "pytest-doctestplus",
    "--ds": "pytest-django",
    "--flake8": "pytest-flake8",
    "--html": "pytest-html",
    "--hypothesis": "hypothesis",
    "--mypy": "pytest-mypy",
    "--numprocesses": "pytest-xdist",
    "--random-order": "pytest-random-order",
    "--randomly": "pytest-randomly",
    "--reruns": "pytest-rerunfailures",
    "--timeout": "pytest-timeout",
    "-n": "pytest-xdist",
}
_OF_SETTING = {
    "DJANGO_SETTINGS_MODULE": "pytest-django",
    "asyncio_mode": "pytest-asyncio",
    "env": "pytest-env",
    "mock_use_standalone_module": "pytest-mock",
    "timeout": "pytest-timeout",
}
_OF_MODULE = {
    "Crypto": "pycryptodome",
    "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "cv2": "opencv-python",
    "dateutil": "python-dateutil",
    "dns": "dnspython",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "git": "GitPython",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "magic": "python-magic",
    "markdown_it": "markdown-it-py",
    "pkg_resources": "setuptools<81",
    "pytest_httpserver": "pytest-httpserver",
    "ruamel": "ruamel.yaml",
    "serial": "pyserial",
    "sklearn": "scikit-learn",
    "slugify": "python-slugify",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
_GONE = frozenset(
    {"asynchat", "asyncore", "cgi", "cgitb", "crypt", "distutils", "imp", "imghdr", "nntplib"}
    | {"pipes", "sndhdr", "smtpd", "telnetlib"}
)
"""Modules that newer Pythons no longer have."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Something that is not installed: its name, what it is, and what brings it.

    ``requirement`` is what pip is to install; empty where pip has nothing to do with it. ``where`` it is missing
    (empty: where the tests are run).
    """

    name: str
    what: str
    requirement: str = ""
    advice: str = ""
    where: str = ""

    def sentence(self, program: str) -> str:
        """What is missing where, and the command that installs it; ``program`` is what runs the tests."""
        of_python = _PYTHON.fullmatch(program.rpartition("/")[2])
        where = self.where or (f"The environment of {program}" if of_python else "This machine")
        command = f"`{shlex.join([*_installer(program), *self.requirement.split()])}`"
        if not of_python:
            command = f"`pip install {self.requirement}`"
        how = self.advice or (
            f"install it: {command}" if self.requirement else f"install {self.name}"
        )
        return f"{where} lacks {self.what} {self.name}; {how}."


def _installer(program: str) -> tuple[str, ...]:
    """The command that installs for a Python: uv's environments have no pip of their own."""
    folder = Path(program).parent
    try:
        made_by = (folder.parent / "pyvenv.cfg").read_text(errors="replace")
    except OSError:
        made_by = ""
    if _OF_UV.search(made_by) and not (folder / "pip").exists():
        return ("uv", "pip", "install", "--python", program)
    return (program, "-m", "pip", "install")


def lack_of(said: str, own: Collection[str] = ()) -> Lack | None:
    """What the environment lacks by these words; None where they speak of something else.

    ``own`` are the names of modules that the project has itself.
    """
    if _MODULE.search(said) or _MOVED.search(said) or _METADATA.search(said):
        return _module(said, own)
    if match := _NOT_STARTED.search(said):
        return _unstarted(match["runner"], match["error"])
    if _UNFIT.search(said):
        advice = (
            "the one that is installed is newer or older than the project knows; install another"
        )
        return Lack("pytest", "a fitting version of", advice=advice + ": pip install 'pytest<8'")
    plugin = _plugin(said)
    return Lack(plugin, "pytest's plugin", plugin) if plugin else _program(said)


def _unstarted(runner: str, error: str) -> Lack:
    """A runner that imports what the project itself is, in a version that it does not know."""
    advice = (
        f"the one that is installed cannot be started with this version of the project ({error}): install an"
        " older or a newer one, or name an environment that has one with --python"
    )
    return Lack(runner, "a fitting version of", advice=advice)


def _module(said: str, own: Collection[str]) -> Lack | None:
    """A module that is not there, or not as the project knows it."""
    if match := _MODULE.search(said):
        top = match[1].partition(".")[0]
        if top in own:
            return None
        if top in _GONE:
            advice = "Python itself no longer has it; name an older Python with --python"
            return Lack(top, MODULE, advice=advice)
        return Lack(match[1], MODULE, _OF_MODULE.get(top, top))
    if match := _MOVED.search(said):
        advice = f"the one that is installed is too old or too new ({match[0]})"
        return None if match[1] in own else Lack(match[1], "a fitting version of", advice=advice)
    match = _METADATA.search(said)
    assert match is not None
    itself = _normalised(match[1]) in {_normalised(name) for name in own}
    return Lack(match[1], "the package", "-e ." if itself else match[1])


def _plugin(said: str) -> str:
    """The plugin that would bring a fixture, an option or a setting; empty where none is known to."""
    if _ASYNC in said:
        return "pytest-asyncio"
    if match := _REQUIRED.search(said):
        return match[1]
    if match := _FIXTURE.search(said):
        return _OF_FIXTURE.get(match[1], "")
    return _option(said) or _setting(said)


def _program(said: str) -> Lack | None:
    """A library or a program that the system does not have, or a package of another language."""
    if _NETWORK_ADMIN.search(said):
        advice = "where afterd runs as root, `network = true` in afterd.toml leaves it to builds and tests"
        return Lack("CAP_NET_ADMIN", "the right", advice=advice, where="The test")
    if match := _OF_NODE.search(said):
        advice = "install what package.json asks for: `npm install`"
        return Lack(match[1], "the package", advice=advice, where="The folder node_modules")
    if match := _OF_GO.search(said):
        name = next(filter(None, match.groups()), "that go.sum should name")
        advice = "get what go.mod asks for, where that can be reached: `go mod download`"
        return Lack(name, "the Go module", advice=advice)
    if match := _OF_PERL.search(said):
        name = match[1].replace("/", "::")
        return Lack(name, "Perl's module", advice=f"install it: `cpan {name}`")
    if match := _LIBRARY.search(said):
        return Lack(match[1], "the library")
    match = _TOOL.search(said) or _SHELL.search(said)
    if match is None or "." in match[1] or shutil.which(match[1]) is not None:
        return None
    return Lack(match[1], "the program")


def _option(said: str) -> str:
    match = _OPTION.search(said)
    words = match[1].split() if match else []
    return next(
        (
            plugin
            for word in words
            for option, plugin in _OF_OPTION.items()
            if word.startswith(option)
        ),
        "",
    )


def _setting(said: str) -> str:
    match = _SETTING.search(said)
    return _OF_SETTING.get(match[1], "") if match else ""


def _normalised(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
