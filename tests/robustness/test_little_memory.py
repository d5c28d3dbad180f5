"""Little memory, and files that would take much of it: one sentence."""

from __future__ import annotations

import resource
import subprocess
import sys
import tracemalloc

import pytest
from cli_support import COMMAND, environment

from oblique_cli import cli
from oblique_cli.errors import DataError
from oblique_cli.models import file_format
from oblique_cli.models.model import load


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        ImportError("libblas.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        OSError(12, "Cannot allocate memory"),
    ],
)
def test_an_error_for_want_of_memory_is_known_and_what_came_of_it_too(error):
    assert cli._lacks_memory(error)
    try:
        raise ValueError from error
    except ValueError as other:
        assert cli._lacks_memory(other)
    assert not cli._lacks_memory(ImportError("no module named x"))


@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound the address space")
def test_a_small_address_space_is_no_bug(tmp_path):
    (tmp_path / "own.csv").write_text("x,y,class\n" + "".join(f"{i % 7},{i},{'ab'[i % 2]}\n" for i in range(40)))

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (400 << 20, 400 << 20))

    words = [*COMMAND, "fit", "own.csv", "--target", "class", "--algorithm", "axis_parallel", "--folds", "2"]
    env = {**environment(tmp_path), "OPENBLAS_NUM_THREADS": "1"}
    done = subprocess.run(words, cwd=tmp_path, env=env, preexec_fn=little, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 4), done.stderr
    assert "a bug" not in done.stderr and "Traceback" not in done.stderr


@pytest.mark.parametrize("value", ["[]", "{}", "1", '{"a":[1]}'])
def test_a_model_of_too_many_values_is_refused_before_they_take_memory(tmp_path, value):
    number = file_format.MOST_VALUES + 10
    (tmp_path / "m.json").write_text(f'{{"format":"oblique-model","x":[{",".join([value] * number)}]}}')
    content = (tmp_path / "m.json").stat().st_size
    tracemalloc.start()
    try:
        with pytest.raises(DataError, match=r"m\.json: the file holds up to .* values of JSON, and 4,194,304 are"):
            load(tmp_path / "m.json")
        assert tracemalloc.get_traced_memory()[1] < content + (80 << 20)  # the buffer that a file is read into
    finally:
        tracemalloc.stop()
