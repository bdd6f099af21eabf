"""Java's tests under Maven: found, built, their failing ones named, and each run alone, by the real Maven."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

from afterd.execution.failures.suites import no_test_ran
from afterd.execution.process import ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.runners import detect
from afterd.execution.runners.maven import DEBIAN, Maven
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

LIMITS = ProcessLimits(timeout=300.0)
POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>sums</groupId><artifactId>{name}</artifactId><version>1</version>{more}
  <properties>
    <maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target>
    <project.build.sourceEncoding>UTF-8</project.build.sourceEncoding>
  </properties>
  <dependencies><dependency>
    <groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope>
  </dependency></dependencies>
</project>
"""
MODULES = "<packaging>pom</packaging><modules><module>one</module><module>two</module></modules>"
OPS = "package p;\n\npublic class Ops {\n    static int add(int a, int b) {\n        return a + b;\n    }\n}\n"
TEST = """\
package p;

import static org.junit.Assert.assertEquals;
import org.junit.Test;

public class OpsTest {
    @Test public void adds() { assertEquals(3, Ops.add(1, 2)); }
    @Test public void addsNothing() { assertEquals(1, Ops.add(1, 0)); }
    @Test public void isHere() { }
}
"""
OTHER = "package p;\n\nclass Other {\n    static int one() {\n        return 1;\n    }\n}\n"
OFFLINE = {".mvn/maven.config": "-o\n"}
"""No registry is waited for: what is not here comes from Debian's packages at once."""
FILES = {
    **OFFLINE,
    "pom.xml": POM.format(name="p", more=""),
    "src/main/java/p/Ops.java": OPS,
    "src/main/java/p/Other.java": OTHER,
    "src/test/java/p/OpsTest.java": TEST,
    ".gitignore": "/target/\n",
}

pytestmark = pytest.mark.skipif(
    shutil.which("mvn") is None or not DEBIAN.is_file(), reason="no Maven with modules of its own"
)


def write(root: Path, files: dict[str, str]) -> Path:
    for name, code in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(code)
    return root


def ran(root: Path, test: tuple[str, ...]) -> ProcessResult:
    return run(Recipe(test).test_in(root), LIMITS, scratch=root.parent)


def test_the_failing_tests_of_all_modules_are_named_and_run_alone(tmp_path: Path) -> None:
    wrong = OPS.replace("a + b", "a - b")
    files = {**OFFLINE, "pom.xml": POM.format(name="all", more=MODULES)}
    for module, code in (("one", wrong), ("two", wrong.replace("package p", "package q"))):
        package = code.split(";")[0].split()[1]
        files[f"{module}/pom.xml"] = POM.format(name=module, more="")
        files[f"{module}/src/main/java/{package}/Ops.java"] = code
        test = TEST.replace("package p", f"package {package}")
        files[f"{module}/src/test/java/{package}/OpsTest.java"] = test
    root = write(tmp_path / "r", files)
    found = detect(root)
    assert found.runner == "Maven"
    built = ran(root, found.build)
    assert built.succeeded, built.stdout.text()
    whole = ran(root, found.test)
    assert set(Maven().failing_tests(whole)) == {"p.OpsTest.adds", "q.OpsTest.adds"}
    assert not whole.succeeded
    alone = ran(root, Maven().one_test(found, "q.OpsTest.adds"))
    assert Maven().failing_tests(alone) == ("q.OpsTest.adds",), alone.stdout.text()
    [report] = Maven().written_reports(alone, found.test, root)
    assert "expected:<3> but was:<-1>" in report.said
    assert ran(root, Maven().one_test(found, "p.OpsTest.isHere")).succeeded
    missing = ran(root, Maven().one_test(found, "p.OpsTest.no"))
    assert no_test_ran(missing.stdout.text()), missing.stdout.text()


def test_the_change_that_broke_a_test_is_explained(tmp_path: Path) -> None:
    """Of two changed files, each compiled from nothing with the other."""
    path = tmp_path / "r"
    for name in FILES:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
    bad = {
        "src/main/java/p/Ops.java": OPS.replace("a + b", "a - b"),
        "src/main/java/p/Other.java": OTHER.replace("return 1", "return 2"),
    }
    repository(path, FILES, bad)
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    [found] = json.loads(done.out)["explanations"]
    assert found["test"] == "p.OpsTest.adds"
    assert [change["file"] for change in found["root"]] == ["src/main/java/p/Ops.java"]
    assert (found["failure"]["expected"], found["failure"]["observed"]) == ("3", "-1")
