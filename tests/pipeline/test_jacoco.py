"""JaCoCo, found where people have it, and what its lines are of."""

from __future__ import annotations

import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest

from afterd.execution.recipe import Recipe
from afterd.pipeline.tracers.jacoco import Jacoco, jacoco
from afterd.trace.coverage.counts import of_lcov

LIBRARIES = ("asm", "asm-tree", "asm-commons", "asm-analysis")
FOLDERS = {
    "maven": (".m2/repository/org/jacoco/{0}/0.8.11", ".m2/repository/org/ow2/asm/{0}/9.6"),
    "gradle": (
        ".gradle/caches/modules-2/files-2.1/org.jacoco/{0}/0.8.11/3f",
        ".gradle/caches/modules-2/files-2.1/org.ow2.asm/{0}/9.6/0a",
    ),
}


def _jar(path: Path, **members: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(path, "w") as jar:
        for name, text in (members or {"x": ""}).items():
            jar.writestr(name.replace("__", "/").replace("_", "."), text)
    return path


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if shutil.which("java") is None:
        pytest.skip("needs java")
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("AFTERD_JACOCO", "GRADLE_USER_HOME", "JAVA_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path


@pytest.mark.parametrize("kind", FOLDERS)
def test_found_in_the_caches_of_maven_and_gradle(home: Path, kind: str) -> None:
    own, asm = FOLDERS[kind]
    core = _jar(home / own.format("org.jacoco.core") / "org.jacoco.core-0.8.11.jar")
    for name in LIBRARIES:
        _jar(home / asm.format(name) / f"{name}-9.6.jar")
    agents = home / own.format("org.jacoco.agent")
    _jar(agents / "org.jacoco.agent-0.8.11-sources.jar")
    agent = _jar(agents / "org.jacoco.agent-0.8.11.jar", jacocoagent_jar="the agent")
    found = jacoco()
    assert found is not None
    assert found.agent == agent
    assert found.libraries[0] == core
    assert [path.name for path in found.libraries[1:]] == [f"{name}-9.6.jar" for name in LIBRARIES]
    into = home / "counts of one"
    into.mkdir()
    assert found.options(into, "-ea") == (
        f'-ea "-javaagent:{into}/jacocoagent.jar=destfile={into}/jacoco.exec"'
    )
    assert (into / "jacocoagent.jar").read_text() == "the agent"


def test_the_folder_that_is_named_comes_first_and_its_newest_jars(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AFTERD_JACOCO", str(home / "mine"))
    manifest = {"META-INF__MANIFEST_MF": "Premain-Class: org.jacoco.agent.rt.PreMain\n"}
    for version in ("0.8.9", "0.8.12"):
        _jar(home / "mine" / "lib" / f"org.jacoco.agent-{version}-runtime.jar", **manifest)
        _jar(home / "mine" / "lib" / f"org.jacoco.core-{version}.jar")
    for name in LIBRARIES:
        _jar(home / "mine" / "lib" / f"{name}.jar")
    found = jacoco()
    assert found is not None
    names = [found.agent.name, found.libraries[0].name]
    assert names == ["org.jacoco.agent-0.8.12-runtime.jar", "org.jacoco.core-0.8.12.jar"]


MODULES = {
    "one/src/p/K.java": "package p; public class K {\n static int f(int x) {\n  return x > 1\n   ? 1\n   : 2;\n }\n"
    " static int g() {\n  return 3;\n }\n}\n",
    "two/src/p/K.java": "package p; public class K {\n static int f() {\n  return 7;\n }\n}\n",
    "one/src/p/Main.java": "package p; public class Main {\n public static void main(String[] a) {\n"
    "  int found = K.f(a.length);\n  System.exit(found);\n }\n}\n",
}


def test_lines_are_of_the_source_that_the_class_was_made_from(tmp_path: Path) -> None:
    """Two modules have a source of the same package and name; the program ends itself."""
    counter = jacoco() if shutil.which("javac") else None
    if counter is None:
        pytest.skip("needs JaCoCo and javac")
    root, into = tmp_path / "slot", tmp_path / "counts"
    into.mkdir()
    for name, text in MODULES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    for module in ("one", "two"):
        sources = sorted(map(str, (root / module).rglob("*.java")))
        subprocess.run(["javac", "-g", "-d", str(root / module / "out"), *sources], check=True)
    options = counter.options(into, "")
    command = ["java", "-cp", str(root / "one" / "out"), "p.Main"]
    done = subprocess.run(
        command, env={"PATH": "/usr/bin:/bin", "JAVA_TOOL_OPTIONS": options}, check=False
    )
    assert done.returncode == 2
    counts = of_lcov(counter.lines(into, root, Recipe(("java",))), root)
    assert {line for line, count in counts["one/src/p/K.java"].items() if count} == {3, 5}
    assert counts["one/src/p/K.java"][8] == 0
    assert not any(counts["two/src/p/K.java"].values())
    assert counts["one/src/p/Main.java"][3]


def test_nothing_is_read_where_no_jvm_was_started(tmp_path: Path) -> None:
    unused = Jacoco(tmp_path / "agent.jar", ())
    assert list(unused.lines(tmp_path, tmp_path, Recipe(("true",)))) == []
