"""Ruby's tests: found, their failing ones named, and each run alone, by the real Ruby."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from afterd.execution.failures.suites import no_test_ran
from afterd.execution.process import ProcessResult
from afterd.execution.recipe import Recipe
from afterd.execution.runners import detect
from afterd.execution.runners.ruby import Ruby
from afterd.execution.sandbox import run
from afterd.limits import ProcessLimits

LIMITS = ProcessLimits(timeout=120.0)
MINITEST = """\
require "minitest/autorun"
class TestA < Minitest::Test
  def test_good; assert_equal 1, 1; end
  def test_bad; assert_equal 1, 2; end
  def test_bad_too; raise "x"; end
  define_method("test_#{File.dirname(File.expand_path(__FILE__)).tr(".", "_")}/a (b)") { assert false }
end
"""
UNIT = """\
require "test/unit"
class TestA < Test::Unit::TestCase
  def test_good; assert_equal(1, 1); end
  def test_bad; assert_equal(1, 2); end
end
class TestB < Test::Unit::TestCase
  def test_bad; assert_equal(1, 1); end
end
"""
SPEC = """\
describe "sums" do
  it("adds (1+1)") { expect(1 + 1).to eq(2) }
  it("adds (1+2)") { expect(1 + 2).to eq(4) }
end
"""
RAKE = 'require "rake/testtask"\nRake::TestTask.new { |t| t.pattern = "test/test_*.rb" }\n'


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [program for program in programs if shutil.which(program) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {' '.join(missing)}")


def ran(root: Path, test: tuple[str, ...]) -> ProcessResult:
    return run(Recipe(test).test_in(root), LIMITS, scratch=root.parent)


CASES = [
    pytest.param(
        {"Rakefile": RAKE, "test/test_a.rb": MINITEST},
        {"TestA#test_bad", "TestA#test_bad_too", "TestA#test_./test/a (b)"},
        "TestA#test_good",
        marks=needs("ruby", "rake"),
    ),
    pytest.param(
        {"Rakefile": "require 'no_such_gem'", "test/test_a.rb": MINITEST},
        {"TestA#test_bad", "TestA#test_bad_too", "TestA#test_./test/a (b)"},
        "TestA#test_good",
        marks=needs("ruby"),
    ),
    pytest.param(
        {"Rakefile": RAKE, "test/test_a.rb": UNIT},
        {"test_bad(TestA)"},
        "test_bad(TestB)",
        marks=needs("ruby", "rake"),
    ),
    pytest.param(
        {"x.gemspec": "", "spec/a_spec.rb": SPEC},
        {"spec/a_spec.rb > sums adds (1+2)"},
        "spec/a_spec.rb > sums adds (1+1)",
        marks=needs("ruby", "rspec"),
    ),
]


@pytest.mark.parametrize(("files", "failing", "passing"), CASES)
def test_the_failing_tests_are_named_and_run_alone(
    tmp_path: Path, files: dict[str, str], failing: set[str], passing: str
) -> None:
    root = tmp_path / "pro.ject"
    for name, code in files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(code)
    found = detect(root)
    assert found.runner == "Ruby"
    assert set(Ruby().failing_tests(ran(root, found.test))) == failing
    for test in failing:
        alone = ran(root, Ruby().one_test(found, test))
        assert Ruby().failing_tests(alone) == (test,), alone.stdout.text()
    assert ran(root, Ruby().one_test(found, passing)).succeeded
    missing = ran(
        root, Ruby().one_test(found, passing.replace("test_", "test_no_").replace("adds", "no"))
    )
    assert no_test_ran(missing.stdout.whole()), missing.stdout.text()
