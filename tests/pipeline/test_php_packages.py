"""A PHP project as Composer leaves it, explained with nothing said of its tests."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from pipeline_runs import afterd, repository

COMPOSER = """{
  "name": "some/sums",
  "autoload": {"psr-4": {"Sums\\\\": "src/"}, "classmap": ["old/"]},
  "autoload-dev": {"psr-4": {"Sums\\\\": "tests/"}}
}
"""
SETTINGS = (
    '<phpunit bootstrap="vendor/autoload.php"><testsuites><testsuite name="all">'
    "<directory>tests</directory></testsuite></testsuites></phpunit>"
)
AUTOLOAD = r"""<?php
spl_autoload_register(function ($class) {
    foreach (["src", "tests"] as $folder) {
        $file = dirname(__DIR__) . "/$folder/" . substr($class, strlen("Sums\\")) . ".php";
        if (is_file($file)) { require $file; return; }
    }
});
"""
SUM = """<?php
namespace Sums;

class Sum
{
    public static function of(array $numbers): int
    {
        $sum = 0;
        foreach ($numbers as $number) {
            $sum += $number;
        }

        return $sum;
    }

    public static function mean(array $numbers): int
    {
        return intdiv(self::of($numbers), count($numbers));
    }
}
"""
TEST = """<?php
namespace Sums;

class SumTest extends Sums
{
    /** @dataProvider numbers */
    public function testSum(array $numbers, int $sum): void
    {
        $this->assertSame($sum, Sum::of($numbers));
    }

    public static function numbers(): array
    {
        return ["none" => [[], 0], "some" => [[1, 2], 3]];
    }
}
"""
BASE = (
    "<?php\nnamespace Sums;\n\nabstract class Sums extends \\PHPUnit\\Framework\\TestCase\n{\n}\n"
)


@pytest.mark.skipif(shutil.which("phpunit") is None, reason="no phpunit")
def test_the_packages_of_the_work_tree_are_used_with_each_versions_own_code(tmp_path: Path) -> None:
    """What Composer installed is not in git, and finds the project's classes beside where it stands itself."""
    path = tmp_path / "r"
    files = {
        "composer.json": COMPOSER,
        "phpunit.xml.dist": SETTINGS,
        ".gitignore": "/vendor/\n",
        "src/Sum.php": SUM,
        "tests/SumTest.php": TEST,
        "tests/Sums.php": BASE,
        "old/.keep": "",
    }
    wrong = SUM.replace("$sum = 0;", "$sum = 1;").replace("intdiv(self", "\\intdiv(self")
    for name in files:
        (path / name).parent.mkdir(parents=True, exist_ok=True)
    repository(path, files, {"src/Sum.php": wrong})
    (path / "vendor").mkdir()
    (path / "vendor/autoload.php").write_text(AUTOLOAD)
    done = afterd("explain", "--format", "json", cwd=path)
    assert done.status == 0, done.err
    found, _ = json.loads(done.out)["explanations"]
    assert found["test"].startswith(r"Sums\SumTest::testSum[")
    assert [change["file"] for change in found["root"]] == ["src/Sum.php"]
    assert "$sum = 1;" in found["root"][0]["patch"]
    assert "intdiv" not in found["root"][0]["patch"]
    assert (found["failure"]["expected"], found["failure"]["observed"]) == ("0", "1")
