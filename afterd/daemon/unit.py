"""A systemd user unit for the daemon, as text."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from afterd.errors import ExitStatus

_UNIT = """\
# ~/.config/systemd/user/afterd.service
# systemctl --user enable --now afterd
[Unit]
Description=afterd explains why regression tests went red

[Service]
ExecStart={command}
{secrets}Restart=on-failure
RestartSec=30
# A setting that cannot be used stays so until somebody mends it.
RestartPreventExitStatus={usage}
# The daemon gives its lease back and ends what it runs within five seconds.
KillMode=mixed
TimeoutStopSec=10
Nice=10
UMask=0077
# The kernel holds each test to its limit of memory: in groups of their own, beside the daemon's (systemd 254).
Delegate=memory
DelegateSubgroup=daemon

[Install]
WantedBy=default.target
"""
_SECRETS = """\
# AFTERD_FORGE_TOKEN=…; the process that runs tests never has it. Tests run as you, though, and can
# read your files: as a system service with User=, the file can be root's (docs/reliability.md).
EnvironmentFile=-%h/.config/afterd/forge.env
"""


def unit(repositories: Sequence[Path], *, post: bool) -> str:
    """The unit's text: this Python, these repositories."""
    flags = ["--quiet", "--post"] if post else ["--quiet"]
    words = [sys.executable, "-m", "afterd", "daemon", "run", *flags, *map(str, repositories)]
    command = " ".join(map(_word, words))
    return _UNIT.format(
        command=command, usage=int(ExitStatus.USAGE), secrets=_SECRETS if post else ""
    )


def _word(text: str) -> str:
    """A word of a command line as systemd reads it: specifiers, variables and quotes are text."""
    quoted = text.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%").replace("$", "$$")
    plain = quoted.replace("/", "").replace("-", "").replace(".", "").replace("_", "")
    return quoted if plain.isalnum() else f'"{quoted}"'
