"""The forges' own published OpenAPI descriptions, and a proxy made of one: it checks every request
against the description before our forge sees it, and every answer before the client does.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from npm_packages import npm

PRISM = "@stoplight/prism-cli@5"
GITHUB = "@octokit/openapi@23"  # GitHub's description, as npm has it

JSON = dict[str, Any]


def prism(folder: Path) -> Path:
    """The program of the proxy, installed below ``folder``, where a package.json keeps it."""
    program = folder / "node_modules" / ".bin" / "prism"
    if not program.exists():
        (folder / "package.json").write_text("{}")
        npm(folder, "install", PRISM)
    return program


def github_descriptions(folder: Path, names: Iterable[str]) -> list[JSON]:
    """GitHub's descriptions by file name, out of the npm package (400 MB when unpacked whole)."""
    kept = folder / "github"
    if not kept.exists():
        npm(folder, "pack", GITHUB)
        kept.mkdir()
        with tarfile.open(next(folder.glob("octokit-openapi-*.tgz"))) as archive:
            for member in archive:
                name = Path(member.name).name
                if (
                    name.endswith(".json")
                    and "deref" not in name
                    and (file := archive.extractfile(member))
                ):
                    (kept / name).write_bytes(file.read())
    return [json.loads((kept / name).read_bytes()) for name in names]


def trimmed(description: JSON, paths: Mapping[str, str]) -> JSON:
    """The paths that we use, under the paths that the server has them at, and what they refer to."""
    kept: JSON = {"paths": {ours: description["paths"][theirs] for ours, theirs in paths.items()}}
    pending: list[object] = [kept["paths"]]
    seen: set[str] = set()
    while pending:
        match pending.pop():
            case {"$ref": str(reference)} if reference not in seen:
                seen.add(reference)
                keys = reference.removeprefix("#/").split("/")
                value, into = description, kept
                for key in keys[:-1]:
                    value, into = value[key], into.setdefault(key, {})
                into[keys[-1]] = value[keys[-1]]
                pending.append(value[keys[-1]])
            case dict(inner):
                pending += inner.values()
            case list(inner):
                pending += inner
    told = ("openapi", "swagger", "info", "consumes", "produces")
    return {key: description[key] for key in told if key in description} | kept


def example(description: JSON, schema: JSON) -> object:
    """What a schema's own examples say an answer looks like; None where they say nothing."""
    if reference := schema.get("$ref"):
        named: object = description
        for key in str(reference).removeprefix("#/").split("/"):
            assert isinstance(named, dict)
            named = named[key]
        assert isinstance(named, dict)
        return example(description, named)
    if "example" in schema:
        return schema["example"]
    shown = {
        name: example(description, part) for name, part in schema.get("properties", {}).items()
    }
    return {name: value for name, value in shown.items() if value is not None} or None


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


@contextmanager
def proxied(program: Path, description: Path, upstream: str, port: int) -> Iterator[str]:
    """The address of a proxy to ``upstream`` that answers 4xx or 500 where either side is wrong."""
    log = description.with_suffix(".log")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [program, "proxy", description, upstream, "--errors", "--port", str(port), "--host", "127.0.0.1"],
            stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True,
        )  # fmt: skip
    try:
        address = f"http://127.0.0.1:{port}"
        _wait_for(address, process, log)
        yield address
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for(address: str, process: subprocess.Popen[bytes], log: Path) -> None:
    deadline = time.monotonic() + 45
    while True:
        try:
            urllib.request.urlopen(address, timeout=5).close()  # our own loopback
        except urllib.error.HTTPError:
            return
        except OSError:
            assert process.poll() is None, log.read_text()
            assert time.monotonic() < deadline, log.read_text()
            time.sleep(0.2)
        else:
            return
