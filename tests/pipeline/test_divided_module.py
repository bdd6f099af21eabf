"""What moved within a file of C, or out of it, has an altered condition: that is the answer, not the move."""

from __future__ import annotations

import json
from pathlib import Path

from pipeline_runs import afterd, repository

DISCOUNT = """\
int discount_for(int orders, int whole)
{
    if (orders > 10)
        return whole / 10;
    return 0;
}
"""
PRICE = """\
int price_of(int price, int count)
{
    int whole = price * count;
    int i;

    for (i = 0; i < count; i++)
        if (i % 12 == 11)
            whole -= price / 2;
    return whole;
}
"""
MAIN = """\
int main(void)
{
    int whole = price_of(10, 5);

    printf("%d\\n", whole - discount_for(10, whole));
    return 0;
}
"""
GOOD = {
    "shop.c": f"#include <stdio.h>\n\nstatic {DISCOUNT}\nstatic {PRICE}\n{MAIN}",
    "Makefile": "shop: shop.c\n\t$(CC) -g -o shop shop.c\n",
}
BAD = {
    "shop.c": f'#include <stdio.h>\n#include "money.h"\n\n{MAIN}',
    "money.c": f'#include "money.h"\n\n{DISCOUNT.replace("> 10", ">= 10")}\n{PRICE}',
    "money.h": "int discount_for(int orders, int whole);\nint price_of(int price, int count);\n",
    "Makefile": "shop: shop.c money.c money.h\n\t$(CC) -g -o shop shop.c money.c\n",
}


STEPS = "\n".join(
    f"static int step_{number}(int price, int count)\n{{\n    int sum = price * {number} + count;\n"
    f"    while (sum < {number})\n        sum += count;\n    return sum;\n}}\n"
    for number in range(12)
)


def test_what_was_altered_in_a_function_that_moved_within_its_file_is_the_cause(
    tmp_path: Path,
) -> None:
    altered = PRICE.replace("i % 12 == 11", "i % 12 == 1")
    head = "#include <stdio.h>\n"
    good = f"{head}\nstatic {DISCOUNT}\nstatic {PRICE}\n{STEPS}\n{MAIN}"
    bad = f"{head}\nstatic {DISCOUNT}\n{STEPS}\nstatic {altered}\n{MAIN}"
    path = tmp_path / "r"
    path.mkdir()
    repository(path, {**GOOD, "shop.c": good}, {**GOOD, "shop.c": bad})
    asked = ("explain", "--format", "json", "--build", "make shop", "--")
    done = afterd(*asked, "sh", "-c", "./shop | grep -x 50", cwd=path)
    assert done.status == 0, done.err
    found = json.loads(done.out)["explanations"][0]
    (cause,) = found["root"]
    line = bad.splitlines().index("        if (i % 12 == 1)") + 1
    assert (cause["file"], cause["new"]) == ("shop.c", [line, 1])
    assert not found["auxiliary"]
    assert found["runs"]["tests"] == 1


def test_what_was_altered_in_a_function_that_moved_is_the_cause(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.mkdir()
    repository(path, GOOD, BAD)
    asked = ("explain", "--format", "json", "--build", "make shop", "--")
    done = afterd(*asked, "sh", "-c", "./shop | grep -x 50", cwd=path)
    assert done.status == 0, done.err
    found = json.loads(done.out)["explanations"][0]
    (cause,) = found["root"]
    assert (cause["file"], cause["new"]) == ("money.c", [5, 1])
    assert not found["auxiliary"]
    assert found["runs"]["tests"] <= 4
