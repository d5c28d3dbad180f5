"""C: one file for all compilers, the same bits whatever the flags."""

import shutil
import subprocess
from dataclasses import replace

import export_support as support
import numpy as np
import pytest
from export_support import Policy

from oblique_cli.errors import ConfigError
from oblique_cli.models.exporting import FORMATS, export
from oblique_cli.models.exporting._exporter import Source
from oblique_cli.models.procedure import MEAN, Leaf, Steps

COMMANDS = {
    "optimized for this processor": ("gcc", "-O3", "-march=native", "-Wall", "-Wextra", "-Werror"),
    "clang": ("clang", "-std=c99", "-O2", "-march=native", "-Wall", "-Wextra", "-Werror", "-pedantic"),
    "C++": ("g++", "-x", "c++", "-std=c++11", "-O2", "-march=native", "-Wall", "-Wextra", "-Werror", "-pedantic"),
    "C++20": ("g++", "-x", "c++", "-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"),
}
CASES = (
    "iris", "scores of levels, sides of gaps", "large", "rotated forest", "logistic leaves, levels", "model tree",
    "forest by boosting of classes, numbers", "forest of orthogonal trees", "forest by boosting, linear leaves",
)  # fmt: skip


@pytest.mark.sample(1)
@pytest.mark.covered(1)
@pytest.mark.parametrize("flags", COMMANDS)
@pytest.mark.parametrize("name", CASES)
def test_every_compiler_gives_the_same_bits(name, flags, tmp_path):
    command = COMMANDS[flags]
    if shutil.which(command[0]) is None:
        pytest.skip(f"needs the compiler {command[0]}")
    case = support.case_of(name)
    X = support.rows(case)
    source = str(export(case.model, "c"))
    labels, shares = support.say_c(source, case, X, tmp_path, command)
    (tmp_path / "strict").mkdir()
    strict, strict_shares = support.say_c(source, case, X, tmp_path / "strict")
    assert labels == strict
    if "logistic" in name or "of classes" in name:  # compilers may take other exponentials
        np.testing.assert_allclose(shares, strict_shares, rtol=0, atol=1e-14)
    else:
        assert shares is None or (shares == strict_shares)[shares == shares].all()
    if name != "model tree":
        assert labels == support.expected(case, X)[0]


def test_a_forest_compares_sums_and_not_rounded_means(tmp_path):
    # The sums of classes 0 and 1 differ in the last bit; their means over ten trees are equal.
    shares = (0.49504950495049505, 0.4950495049504951, 0.0)
    assert shares[0] / 10 == shares[1] / 10
    case = support.iris("mprof_t", n_estimators=10)
    empty = Steps((-1,), (-1,), (None,), (Leaf(shares=(0.0, 0.0, 0.0)),))
    trees = (replace(empty, leaves=(Leaf(shares=shares),)), *[empty] * 9)
    procedure = replace(case.procedure, trees=trees, voting=MEAN)
    source = str(FORMATS["c"].write(Source(case.model, procedure)))
    labels, _ = support.say_c(source, case, np.zeros((1, len(procedure.cells))), tmp_path)
    assert labels == [procedure.classes[1]]


@pytest.mark.skipif(shutil.which("objdump") is None, reason="needs objdump of binutils")
def test_no_fused_multiply_add_is_in_the_program(tmp_path):
    source = str(export(support.leaf_models(1).model, "c"))
    command = ["gcc", "-std=gnu11", "-O3", "-mfma", "-mavx2", "-c", "model.c", "-o", "model.o"]

    def fused(text: str) -> int:
        (tmp_path / "model.c").write_text(text)
        subprocess.run(command, cwd=tmp_path, check=True)
        listing = subprocess.run(["objdump", "-d", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=True)
        return listing.stdout.count("vfm")

    assert fused(source) == 0
    # Without the line there would be some, so that the test can fail.
    assert fused(source.replace('#pragma GCC optimize("fp-contract=off")', "")) > 0


@pytest.mark.parametrize("flag", ["-ffast-math", "-Ofast"])
def test_flags_that_change_the_answers_are_refused_by_the_compiler(flag, tmp_path):
    (tmp_path / "model.c").write_text(str(export(support.iris().model, "c")))
    done = subprocess.run(
        ["gcc", flag, "-c", "model.c", "-o", "model.o"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode != 0 and "compile without -ffast-math" in done.stderr


def test_nothing_is_allocated_and_nothing_changes():
    for name in CASES:
        source = str(export(support.case_of(name).model, "c"))
        assert not {"malloc", "calloc", "stdio", "printf"} & set(source.replace("(", " ").split())
        for line in source.splitlines():
            assert not line.startswith("static") or "const" in line or "(" in line, line


def test_two_models_go_into_one_program(tmp_path):
    case = support.iris()
    (tmp_path / "a.c").write_text(str(export(case.model, "c", name="first")))
    (tmp_path / "b.c").write_text(str(export(case.model, "c", name="second_2")))
    (tmp_path / "main.c").write_text(
        "int first_predict(const double *); int second_2_predict(const double *);\n"
        "int main(void) { double x[4] = {5, 3, 1, 0}; return first_predict(x) + second_2_predict(x); }\n"
    )
    subprocess.run(["gcc", "a.c", "b.c", "main.c", "-o", "both"], cwd=tmp_path, check=True)
    assert subprocess.run([str(tmp_path / "both")], check=False).returncode == 0


@pytest.mark.parametrize("name", ["Upper", "1st", "a-b", "int main", "", "x" * 41])
def test_a_name_must_be_fit_for_functions(name):
    if name == "":
        assert "int oblique_predict(" in str(export(support.iris().model, "c", name=name))
        return
    with pytest.raises(ConfigError, match="the name in C must be at most 40 lower-case letters"):
        export(support.iris().model, "c", name=name)


def test_codes_of_levels_come_from_texts(tmp_path):
    case = support.mixed("hhcart_a", Policy("keep", "crimcoord"), missing="learn", max_depth=3)
    (tmp_path / "model.c").write_text(str(export(case.model, "c")), encoding="utf-8")
    calls = "".join(
        f"if (oblique_code({j}, {support_literal(level)}) != {code}) return {1 + code};\n"
        for j, cell in enumerate(case.procedure.cells)
        for code, level in enumerate([*cell.levels, "something else"] if cell.levels else [])
    )
    (tmp_path / "main.c").write_text(
        f'#include "model.c"\nint main(void) {{ {calls} return oblique_class(-1) || oblique_class(3) ? 99 : 0; }}\n'
    )
    subprocess.run(["gcc", "main.c", "-o", "codes"], cwd=tmp_path, check=True)
    assert subprocess.run([str(tmp_path / "codes")], check=False).returncode == 0


def support_literal(text: str) -> str:
    """A string of C, byte by byte."""
    return '"' + "".join(f"\\{byte:03o}" for byte in text.encode()) + '"'
