"""PHP's tests: found, their failing ones named, and each run alone, by the real PHPUnit."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from afterd.execution.failures.suites import no_test_ran
from afterd.execution.process import ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.runners import detect
from afterd.execution.runners.phpunit import PhpUnit
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

LIMITS = ProcessLimits(timeout=120.0)
SETTINGS = '<phpunit><testsuites><testsuite name="all"><directory>{}</directory></testsuite></testsuites></phpunit>'
TEST = r"""<?php
namespace Some\Where;
class SumTest extends \PHPUnit\Framework\TestCase {
    public function testGood() { $this->assertSame(2, 1 + 1); }
    public function testBad() { $this->assertSame(3, 1 + 1); }
    public function testBadToo() { throw new \RuntimeException("x"); }
    /** @dataProvider sums */
    public function testSum($a, $b) { $this->assertSame($a, $b); }
    public static function sums() {
        return ["a (b)  c/d" => [1, 2], "good" => [1, 1], ltrim(__FILE__, "/") . "#1" => [1, 3]];
    }
    /** @dataProvider numbers */
    public function testNumber($a) { $this->assertSame(1, $a); }
    public static function numbers() { return [[1], [2]]; }
}
"""
BAD = {
    r"Some\Where\SumTest::testBad",
    r"Some\Where\SumTest::testBadToo",
    r'Some\Where\SumTest::testSum["a (b)  c/d"]',
    r'Some\Where\SumTest::testSum["./FOLDER/SumTest.php#1"]',
    r"Some\Where\SumTest::testNumber[#1]",
}
REQUIRES = '{"require-dev": {"phpunit/phpunit": "*"}}'

pytestmark = pytest.mark.skipif(shutil.which("phpunit") is None, reason="no phpunit")


def ran(root: Path, test: tuple[str, ...]) -> ProcessResult:
    return run(Recipe(test).test_in(root), LIMITS, scratch=root.parent)


@pytest.mark.parametrize(
    ("settings", "files"),
    [
        ("phpunit.xml.dist", {"phpunit.xml.dist": SETTINGS.format("test")}),
        ("test/phpunit.xml", {"test/phpunit.xml": SETTINGS.format(".")}),
        ("composer.json", {"composer.json": REQUIRES}),
    ],
)
def test_the_failing_tests_are_named_and_run_alone(
    tmp_path: Path, settings: str, files: dict[str, str]
) -> None:
    root = tmp_path / "pro.ject"
    for name, code in {**files, "test/SumTest.php": TEST, "Makefile": "test:\n\tfalse\n"}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(code)
    found = detect(root)
    assert found.runner == "PHPUnit"
    assert settings in found.sentence
    bad = {name.replace("FOLDER", "test") for name in BAD}
    whole = ran(root, found.test)
    assert set(PhpUnit().failing_tests(whole)) == bad, whole.stdout.text()
    for test in bad:
        alone = ran(root, PhpUnit().one_test(found, test))
        assert PhpUnit().failing_tests(alone) == (test,), alone.stdout.text()
        [report] = PhpUnit().written_reports(alone, found.test, root)
        assert str(root).lstrip("/") not in report.said
    good = ran(root, PhpUnit().one_test(found, r'Some\Where\SumTest::testSum["good"]'))
    assert good.succeeded
    missing = ran(root, PhpUnit().one_test(found, r"Some\Where\SumTest::testNo"))
    assert no_test_ran(missing.stdout.whole()), missing.stdout.text()


DYING = """<?php
class Dying { function __destruct() { throw new \\RuntimeException("too late"); } }
class LateTest extends \\PHPUnit\\Framework\\TestCase {
    private static $kept;
    public function testBad() { self::$kept = new Dying(); $this->assertSame(3, 1 + 1); }
    public function testGood() { self::$kept = new Dying(); $this->assertSame(2, 1 + 1); }
}
"""


def test_what_dies_behind_its_tests_has_their_outcome(tmp_path: Path) -> None:
    """It left by 255, which is no verdict: a filtered run of PHP-Parser's tests does, by a destructor."""
    root = tmp_path / "r"
    (root / "test").mkdir(parents=True)
    (root / "phpunit.xml").write_text(SETTINGS.format("test"))
    (root / "test/LateTest.php").write_text(DYING)
    found = detect(root)
    bad, good = (
        ran(root, PhpUnit().one_test(found, f"LateTest::{name}"))
        for name in ("testBad", "testGood")
    )
    assert "too late" in bad.stdout.text() + bad.stderr.text()
    assert (bad.status, good.status) == (1, 0)
    assert PhpUnit().failing_tests(bad) == ("LateTest::testBad",)
    (root / "test/LateTest.php").write_text("<?php\nclass LateTest extends Missing {}\n")
    assert ran(root, found.test).status == 1
