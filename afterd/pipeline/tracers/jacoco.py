"""JaCoCo's line counts of what runs in a JVM: any command that starts one takes its agent from the environment.

JaCoCo is looked for where people have it: the folder that ``AFTERD_JACOCO`` names, Maven's and Gradle's caches, and
where distributions install Java's libraries.
"""

from __future__ import annotations

import os
import re
import shutil
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from afterd.errors import ToolchainError
from afterd.execution.recipe import Recipe
from afterd.pipeline.tracers.counting_tools import tool_said

LACKS_JACOCO = (
    "Java's coverage needs JaCoCo's agent, its core, and ASM; install libjacoco-java, or name a folder"
    " that holds their jars in AFTERD_JACOCO."
)
_READER = resources.files("afterd.trace.coverage") / "counters" / "JacocoLines.java"
_EXECUTED, _AGENT = "jacoco.exec", "jacocoagent.jar"
_AGENTS = ("jacocoagent*.jar", "org.jacoco.agent-*-runtime.jar", "org.jacoco.agent*.jar")
_LIBRARIES = ("org.jacoco.core", "asm", "asm-tree", "asm-commons", "asm-analysis")
_VERSIONED = r"(?:-\d[\w.+-]*)?\.jar"


@dataclass(frozen=True, slots=True)
class Jacoco:
    """``agent`` is a jar that a JVM loads, or one that holds it; ``libraries`` read what it wrote."""

    agent: Path
    libraries: tuple[Path, ...]

    def options(self, into: Path, inherited: str) -> str:
        """``JAVA_TOOL_OPTIONS`` that make each JVM add to one file in ``into``."""
        agent = into / _AGENT
        with zipfile.ZipFile(self.agent) as jar:
            if _AGENT in jar.namelist():
                agent.write_bytes(jar.read(_AGENT))
            else:
                shutil.copyfile(self.agent, agent)
        return f'{inherited} "-javaagent:{agent}=destfile={into / _EXECUTED}"'.lstrip()

    def lines(self, into: Path, root: Path, recipe: Recipe) -> Iterator[str]:
        """The counts in the format of lcov, of the classes below ``root``. Raises ToolchainError where JaCoCo cannot
        read them.
        """
        executed = into / _EXECUTED
        if not executed.is_file():
            return
        libraries = os.pathsep.join(map(str, self.libraries))
        argv = (_java(), "-cp", libraries, str(_READER), str(executed), str(root))
        done, report = tool_said(argv, into, recipe)
        said = report.splitlines()
        if not done or ("UNREAD:" in report and "DA:" not in report):
            why = next((line for line in said if line.startswith("UNREAD:")), "UNREAD: java failed")
            raise ToolchainError(
                f"JaCoCo cannot read these classes ({why.partition(':')[2].strip()})."
            )
        yield from _placed(said, _sources(root))


def jacoco() -> Jacoco | None:
    """The first one that is whole; None where there is none, or no Java."""
    if shutil.which(_java()) is None:
        return None
    for folders in _homes():
        jars = [jar for folder in folders if folder.is_dir() for jar in folder.rglob("*.jar")]
        agents = [
            jar for pattern in _AGENTS for jar in jars if jar.match(pattern) and _holds_agent(jar)
        ]
        libraries = [_newest(jars, name) for name in _LIBRARIES]
        if agents and None not in libraries:
            agent = max(agents, key=_version)
            return Jacoco(agent, tuple(jar for jar in libraries if jar is not None))
    return None


def _homes() -> Iterator[list[Path]]:
    if named := os.environ.get("AFTERD_JACOCO"):
        yield [Path(named)]
    maven = Path.home() / ".m2" / "repository"
    yield [maven / "org" / "jacoco", maven / "org" / "ow2" / "asm"]
    gradle = Path(os.environ.get("GRADLE_USER_HOME", Path.home() / ".gradle"))
    files = gradle / "caches" / "modules-2" / "files-2.1"
    yield [files / "org.jacoco", files / "org.ow2.asm"]
    yield [Path("/usr/share/java")]


def _java() -> str:
    home = os.environ.get("JAVA_HOME")
    return str(Path(home, "bin", "java")) if home else "java"


def _holds_agent(jar: Path) -> bool:
    """Whether it is the agent, with all that it needs, or has that in it."""
    try:
        with zipfile.ZipFile(jar) as opened:
            return _AGENT in opened.namelist() or b"Premain-Class" in opened.read(
                "META-INF/MANIFEST.MF"
            )
    except (OSError, KeyError, zipfile.BadZipFile):
        return False


def _newest(jars: list[Path], name: str) -> Path | None:
    fitting = re.compile(re.escape(name) + _VERSIONED)
    return max((jar for jar in jars if fitting.fullmatch(jar.name)), key=_version, default=None)


def _version(jar: Path) -> tuple[int, ...]:
    return tuple(map(int, re.findall(r"\d+", jar.name)))


def _sources(root: Path) -> dict[str, list[Path]]:
    """The files below a folder that a class may have been made from, by name."""
    found: dict[str, list[Path]] = {}
    for path in root.rglob("*.java"):
        found.setdefault(path.name, []).append(path)
    return found


def _placed(report: list[str], sources: dict[str, list[Path]]) -> Iterator[str]:
    """What was printed with the file of each source, which a class names by its package alone; of several modules with
    the same one, that nearest to the class.
    """
    made = Path()
    for line in report:
        kind, _, rest = line.partition(":")
        if kind == "CLASS":
            made = Path(rest)
        elif kind == "SOURCE":
            named = rest.lstrip("/")
            fitting = [path for path in sources.get(Path(named).name, ()) if path.match(named)]
            yield f"SF:{max(fitting, key=lambda path: _shared(path, made), default='')}"
        else:
            yield line


def _shared(path: Path, other: Path) -> int:
    return len(Path(os.path.commonpath([path, other])).parts)
