"""Little memory, and files that would take much of it: one sentence."""

import json
import resource
import subprocess
import sys
import tracemalloc
from pathlib import Path

import pytest
from cli_support import COMMAND, environment
from waiting import FOREVER

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


def started_with(folder: Path, megabytes: int, *words: str) -> subprocess.CompletedProcess[str]:
    """How a command ends whose address space is limited; OpenBLAS starts as many threads as it likes."""

    def little() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (megabytes << 20, megabytes << 20))

    env = {key: value for key, value in environment(folder).items() if not key.endswith("_NUM_THREADS")}
    return subprocess.run(
        [*COMMAND, *words], cwd=folder, env=env, preexec_fn=little, capture_output=True, text=True, timeout=FOREVER
    )


@pytest.mark.sample(2)
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound the address space")
@pytest.mark.parametrize("megabytes", [100, 215, 244, 275, 350, 440, 500, 639])
def test_a_small_address_space_is_refused_in_one_sentence_before_libraries_wait_for_it(tmp_path, megabytes):
    (tmp_path / "own.csv").write_text("x,class\n" + "1,a\n2,b\n" * 20)
    done = started_with(tmp_path, megabytes, "fit", "own.csv", "--target", "class", "--output", "model.json")
    sentence = f"error: the address space is limited to {megabytes} MB: at least 640 MB are needed (ulimit -v).\n"
    assert (done.returncode, done.stdout, done.stderr) == (4, "", sentence)
    assert not (tmp_path / "model.json").exists()


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="other systems do not bound the address space")
def test_help_takes_little_memory_and_a_limit_that_is_high_enough_changes_no_model(tmp_path):
    assert started_with(tmp_path, 100, "fit", "--help").returncode == 0
    rows = "".join(f"{i % 7},{i},{'ab'[i % 2]}\n" for i in range(40))
    (tmp_path / "own.csv").write_text(f"x,y,class\n{rows}")
    fit = ("fit", "own.csv", "--target", "class", "--algorithm", "hhcart_a", "--folds", "2", "--output")
    for megabytes, name in ((2000, "limited.json"), (64_000, "whole.json")):
        done = started_with(tmp_path, megabytes, *fit, name)
        assert done.returncode == 0, done.stderr
    limited, whole = (json.loads((tmp_path / name).read_text()) for name in ("limited.json", "whole.json"))
    assert limited["state"] == whole["state"]


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
