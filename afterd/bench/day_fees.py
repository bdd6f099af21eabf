"""The C project of ``afterd bench day``: built by make, 14 tests that a script runs one after the other (TAP)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from afterd.bench.day_project import (
    CALLED_WITH,
    SCALE,
    Fault,
    Project,
    State,
    base_of,
    fault_of,
    sound_value,
)

_MICROSECONDS = 1_000_000


class Fees(Project):
    """Fees in a loop that takes its time; faults are found by an assertion, a signal, a compiler, or a time limit."""

    name = "fees"
    functions = 12
    faults: ClassVar[Mapping[Fault, int]] = {
        Fault.WRONG: 6,
        Fault.CRASHES: 2,
        Fault.HANGS: 1,
        Fault.UNBUILDABLE: 2,
    }
    build = ("make",)
    test = ("sh", "check.sh")
    test_of_a_function = "test_fee_"

    def files(self, state: State) -> dict[str, str]:
        """See ``Project``."""
        found = {}
        for module in range(self.modules):
            numbers = self.functions_of(module)
            found[f"fees_{module}.c"] = self._module(state, module, numbers)
        half = "value / 5" if state.get("half") else "value / (SCALE / 2)"
        found["fees.h"] = self._header()
        found["scale.h"] = f"#define SCALE {state.get('scale', SCALE)}\n"
        found["writer.c"] = f"{_AGREED}int written(int value) {{\n    return value * SCALE;\n}}\n"
        found["reader.c"] = (
            f"{_AGREED}int read_back(int value) {{\n    return value / SCALE;\n}}\n\n"
            f"int halves(int value) {{\n    return {half};\n}}\n"
        )
        found["check.c"] = self._check()
        found["check.sh"] = _RUN.format(names=" ".join(self._wanted()))
        found["Makefile"] = _MAKEFILE
        found[".gitignore"] = "*.o\ncheck\n"
        found["notes.txt"] = f"Revision {state.get('notes', '0')}\n"
        return found

    def function(self, state: State, number: int) -> str:
        """See ``Project``."""
        fault = fault_of(state, number)
        factor = number + 3 + (fault is Fault.WRONG)
        rate = "NULL" if fault is Fault.CRASHES else f"&RATES[{number % self.A_MODULE}]"
        added = f"missing_{number}" if fault is Fault.UNBUILDABLE else f"{factor} * *rate"
        step = 0 if fault is Fault.HANGS else 1
        return (
            f"\nint fee_{number}(int count) {{\n    const int *rate = {rate};\n    int left = count;\n"
            f"    int total = 0;\n    while (left > 0) {{\n        usleep(PAUSE);\n        total += {added};\n"
            f"        left -= {step};\n    }}\n    return total + BASE + {number};\n}}\n"
        )

    def base_line(self, state: State, module: int) -> str:
        """See ``Project``."""
        return f"#define BASE {base_of(state, module)}"

    def lines_that_clash(self, scale: str) -> frozenset[str]:
        """See ``Project``."""
        return frozenset({f"#define SCALE {scale}", "return value / 5;"})

    def _module(self, state: State, module: int, numbers: range) -> str:
        pause = int(float(state.get(f"pause {module}", "0.001")) * _MICROSECONDS)
        return (
            f"/* Fees, part {module}. Revision {state.get(f'remark {module}', '0')} */\n"
            '#include "fees.h"\n\n#include <stddef.h>\n#include <unistd.h>\n\n'
            f"#define PAUSE {pause}\n{self.base_line(state, module)}\n\n"
            "static const int RATES[] = {1, 1, 1, 1};\n"
            + "".join(self.function(state, number) for number in numbers)
        )

    def _header(self) -> str:
        every = "".join(f"int fee_{number}(int count);\n" for number in range(self.functions))
        return (
            f"{every}int written(int value);\nint read_back(int value);\nint halves(int value);\n"
        )

    def _wanted(self) -> dict[str, str]:
        """What each test asserts, by its name."""
        numbers = range(self.functions)
        every = {self.test_name(n): f"fee_{n}({CALLED_WITH}) == {sound_value(n)}" for n in numbers}
        return {
            **every,
            "test_round": "read_back(written(7)) == 7",
            "test_halves": "halves(written(7)) == 14",
        }

    def _check(self) -> str:
        """A program that runs the test whose name it is given."""
        functions = "".join(
            f"static void {name}(void) {{\n    assert({wanted});\n}}\n\n"
            for name, wanted in self._wanted().items()
        )
        table = "".join(f'    {{"{name}", {name}}},\n' for name in self._wanted())
        return f"{_INCLUDED}{functions}{_TABLE}{table}{_MAIN}"


_AGREED = '#include "fees.h"\n#include "scale.h"\n\n'
_INCLUDED = """\
#include "fees.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>

"""
_TABLE = """\
static const struct {
    const char *name;
    void (*run)(void);
} TESTS[] = {
"""
_MAIN = """\
};

int main(int argc, char **argv) {
    for (size_t i = 0; i < sizeof TESTS / sizeof *TESTS; i++)
        if (argc == 2 && strcmp(TESTS[i].name, argv[1]) == 0) {
            TESTS[i].run();
            return 0;
        }
    return 2;
}
"""
_RUN = """\
# Each test in a process of its own, reported as TAP.
number=0
red=0
for name in {names}; do
    number=$((number + 1))
    if ./check $name; then
        echo "ok $number - $name"
    else
        echo "not ok $number - $name"
        red=1
    fi
done
echo "1..$number"
exit $red
"""
_MAKEFILE = """\
CC ?= cc
CFLAGS ?= -g
OBJECTS = $(patsubst %.c,%.o,$(wildcard *.c))

check: $(OBJECTS)
\t$(CC) $(CFLAGS) -o $@ $(OBJECTS)

%.o: %.c fees.h scale.h
\t$(CC) $(CFLAGS) -c -o $@ $<
"""
