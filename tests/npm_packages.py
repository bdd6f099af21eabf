"""Packages that a test gets with npm, where there is one."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

READY = {"NO_UPDATE_NOTIFIER": "1", "npm_config_audit": "false", "npm_config_fund": "false"}


class NoNpmError(Exception):
    """Why there is no node, npm or registry."""


def npm(folder: Path, *arguments: str) -> None:
    """Run npm in a folder; raises NoNpmError."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        raise NoNpmError("node and npm are not installed")
    try:
        done = subprocess.run(
            ["npm", *arguments, "--silent", "--no-update-notifier"],
            cwd=folder, env=os.environ | READY, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
    except subprocess.TimeoutExpired as error:
        raise NoNpmError("npm did not end within two minutes") from error
    if done.returncode:
        raise NoNpmError(f"npm {arguments[0]} failed: {done.stderr.strip()[-200:]}")
