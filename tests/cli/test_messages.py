"""Bad input, given to every command: a sentence that says what to do, a fixed exit code, and nothing written.

messages.txt has each command line, its exit code and its sentence. `python tests/cli/test_messages.py` renews the file.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import sqlite3
import sys
import tempfile
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np
import pytest

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))  # where pytest does not read its configuration

from cli_support import SMALL  # noqa: E402
from scale_support import table  # noqa: E402

from oblique_cli import Model, cli, data, load, make, save  # noqa: E402
from oblique_cli.models import file_format  # noqa: E402

MESSAGES = HERE / "messages.txt"
CONFIG = """\
version: 1
dataset: {csv: my.csv, target: class}
algorithm: {name: hhgdt, epsilon: 0.1}
cv: {scheme: stratified, folds: 3, repeats: 1}
"""
ROWS = [f"{i % 7},{i * i % 11},{'ab'[i % 2]}" for i in range(20)]
CSV = "\n".join(["x,y,class", *ROWS]) + "\n"
# Configurations that differ from CONFIG, and tables from CSV, in one place
CONFIGS = {
    "algorithm": ("hhgdt", "hhgtd"), "dataset": ("{csv: my.csv, target: class}", "bupaa"),
    "parameter": ("epsilon", "epsilom"), "key": ("scheme", "shceme"), "type": ("folds: 3", "folds: ten"),
    "range": ("0.1", "1.5"), "yaml": ("epsilon: 0.1}", "epsilon: 0.1"), "folds": ("folds: 3", "folds: 11"),
    "file": ("my.csv", "no.csv"), "folder": ("my.csv", "."), "seeds": ("{csv: my.csv, target: class}", "seeds"),
}  # fmt: skip
TABLES = {
    "words": "x,y,class\n" + "".join(f"c{row}\n" for row in ROWS),
    "empty": "", "header": "x,y,class\n", "twice": CSV.replace("x,y,class", "class,x,class"),
    "target": CSV.replace("x,y,class", "x,y,classes"), "binary": "\0\1\2", "one_class": CSV.replace(",b\n", ",a\n"),
    **{name: CSV.replace(f"\n{ROWS[5]}\n", f"\n{cell}{ROWS[5][1:]}\n")
       for name, cell in (("red", "red"), ("missing", ""), ("nan", "nan"), ("infinite", "1e400"))},
}  # fmt: skip
FITS = {
    "plain": "plain.csv --target variety --algorithm hhgdt --folds 3",
    "strict": "plain.csv --target variety --algorithm axis_parallel --set missing=error --folds 2",
    "wild": "wild.csv --target Befund --algorithm hhcart_a --folds 2",
    "number": "plain.csv --target weight_mg --algorithm pilot --folds 2",
    "quantiles": "plain.csv --target weight_mg --algorithm pilot --folds 2 --set leaf_residuals=true",
    "svm": "iris --algorithm svm --folds 2",
    "forest": "iris --algorithm raf --set n_estimators=3 --folds 2",
    "leaves": "iris --algorithm hhgdt --set leaf_models=logistic --set max_depth=1 --folds 2",
    "threshold": "rare.csv --target state --algorithm axis_parallel --set max_depth=1 --folds 2 --threshold 0.8",
    "colors": "kinds.csv --target class --algorithm axis_parallel --folds 2",
    "letters": "my.csv --target class --algorithm axis_parallel --folds 2",
    "voting": "rare.csv --target state --algorithm hhgdt_forest --set n_estimators=9 --folds 2 --threshold 0.2",
}


def build() -> None:
    """Make the tables, configurations, models and results of the commands in the current folder."""
    for name in ("plain.csv", "wild.csv"):
        shutil.copy(HERE.parent / "files" / name, name)
    _tables()
    _configurations()
    _arrays()
    calls = [f"fit {words} --output {name}.json" for name, words in FITS.items()]
    calls += ["run small.yaml wine.yaml sampled.yaml --quiet", "run c.yaml --quiet", "data convert big.csv big.parquet"]
    for words in calls:
        code, _, message = answered(words)
        assert code == 0, (words, message)
    _damaged()


def _tables() -> None:
    rng = np.random.default_rng(7)
    X, rare = rng.normal(size=(400, 3)), np.arange(400) % 20 == 0
    X[rare, 0] += 2.4
    rows = [f"{a:.3f},{b:.3f},{c:.3f},{('ok', 'fault')[k]}" for (a, b, c), k in zip(X, rare.astype(int), strict=True)]
    patients = [f"P{i // 6},{i % 7}.5,{i % 5},{('ill', 'well')[i // 6 % 2]}" for i in range(240)]
    texts = {
        "my": CSV, **TABLES,
        "rare": "\n".join(["a,b,c,state", *rows]) + "\n",
        "groups": "\n".join(["patient,a,b,t", *patients]) + "\n",
        "gaps": "\n".join(["patient,a,b,t", *patients]).replace("\nP3,", "\n,", 1) + "\n",
        "iris_rows": "sepal_length,sepal_width,petal_length,petal_width\n5,3,1,0.2\n",
        "renamed": Path("plain.csv").read_text().replace("length_mm", "length"),
        "unread": Path("plain.csv").read_text().replace("\n", "\nabout ", 1),
        "unlabeled": "\n".join(line.rpartition(",")[0] for line in Path("plain.csv").read_text().splitlines()),
        "no_answer": "\n".join([Path("plain.csv").read_text().splitlines()[0], "5,3,2,20,12,14,"]) + "\n",
        "no_rows": Path("plain.csv").read_text().splitlines()[0] + "\n",
        "hole": "\n".join([*Path("plain.csv").read_text().splitlines()[:3], ",1,1,1,1,1,"]) + "\n",
        "first": "\n".join(Path("wild.csv").read_text(encoding="utf-8-sig").splitlines()[:2]) + "\n",
        "other": "a,b\n1,2\n", "broken": "a,b\n1,2\n3\n",
        "kinds": "class,a,color\n" + "x,1,red\ny,2,blue\nx,3,blue\n" * 4,
    }  # fmt: skip
    for name, text in texts.items():
        Path(f"{name}.csv").write_text(text)
    Path("latin.csv").write_bytes(b"a,class\n1,\xff\n")
    costs = {"class": ("\nfault", "\nfalt"), "twice": ("t,ok", "t,fault"), "less": ("50", "-1"), "nan": ("50", "nan")}
    for name, change in costs.items():
        Path(f"{name}_costs.csv").write_text(",fault,ok\nfault,0,50\nok,1,0\n".replace(*change))


def _configurations() -> None:
    Path("c.yaml").write_text(CONFIG)
    for name, (old, new) in CONFIGS.items():
        Path(f"bad_{name}.yaml").write_text(CONFIG.replace(old, new))
    for name in TABLES:
        Path(f"of_{name}.yaml").write_text(CONFIG.replace("my.csv", f"{name}.csv"))
    Path("small.yaml").write_text(SMALL)
    Path("wine.yaml").write_text(SMALL.replace("[iris, bupa]", "[wine]"))
    cv = "cv: {scheme: bootstrap, repeats: 2}"
    Path("sampled.yaml").write_text(SMALL.partition("cv: ")[0].replace("{grid: [0.1, 0.2]}", "0.1") + cv)
    cv = "cv: {scheme: nested, folds: 2, repeats: 1, tune: {folds: 2}}"
    Path("pair.yaml").write_text(f"version: 1\ndataset: iris\nalgorithm: raf\n{cv}\n")
    Path("monte.yaml").write_text("version: 1\ndataset: iris\nalgorithm: hhgdt\ncv: {scheme: monte_carlo}\n")
    Path("plain.yaml").write_text("version: 1\ndataset: iris\nalgorithm: svm\ncv: {folds: 3, repeats: 1}\n")


def _arrays() -> None:
    X, y = table(1, n=20_000)
    names = np.array(["a", "b", "c"])[y]
    arrays = {
        "X": X, "y": names, "w": np.arange(20_000) % 4, "short": y[:7], "cube": np.zeros((2, 2, 2)),
        "negative": np.where(np.arange(20_000) == 5, -1.0, 1.0),
        "lacking": np.where(np.arange(20_000) == 7, np.nan, 1.0),
        "objects": np.array([[1, None]], dtype=object), "words": np.array([["a", "b"]]),
        "latin": np.array([b"caf\xe9", b"b", b"c"])[y], "few_X": X[:300], "few_y": names[:300],
    }  # fmt: skip
    for name, values in arrays.items():
        np.save(f"{name}.npy", values)
    sequences = {
        "long": ">a x\nACGT\n>b y\nACGTA\n", "foreign": ">a\nACGT\n>b\nAEGT\n", "far": ">a\nACGT\n>b\nCATG\n",
        "empty": "", "headless": "ACGT\n>a\nACGT\n", "nameless": ">a\nACGT\n>\nACGT\n", "bare": ">a\n\n>b\nACGT\n",
        "letter": ">a\nACGT\n>b\nACG\nE\n", "foreign_letter": ">a\nAC\u01ffT\n",
        "twice": ">a x\nACGT\n>b\nACGT\n>a y\nACGT\n",
    }  # fmt: skip
    for name, text in sequences.items():
        Path(f"{name}.fasta").write_text(text, encoding="utf-8")
    matrices = {
        "lopsided": "a,b 0,1 2,0", "minus": "0,-1 -1,0", "nameless_nan": "0,nan nan,0", "similar": "1,0.5 0.5,1",
        "oblong": "0,1,2 1,0,3", "ragged": "0,1 1", "letters_in": "0,1 1,x", "same_names": "a,a 0,1 1,0",
        "other_names": ",a,b b,0,1 a,1,0", "short_triangle": "1,2,3,4", "phylip": "3 a_1_2 b_3",
        "phylip_cut": "3 a_1_2 b_3_4", "endless": "9" * 5000 + " a_0 b_1_0",
    }  # fmt: skip
    for name, lines in matrices.items():
        Path(f"{name}.csv").write_text(lines.replace(" ", "\n").replace("_", " "))
    Path("junk.npy").write_bytes(b"no array")
    for name, shape in (("huge", 10**30), ("false", True)):
        header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({shape}, 2), }}\n".encode()
        Path(f"{name}.npy").write_bytes(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header)
    rows = [f"{a!r},{b!r},{c!r},{('red', 'blue')[a > 0.3]},k{k}" for (a, b, c), k in zip(X.tolist(), y, strict=True)]
    Path("big.csv").write_text("\n".join(["a,b,c,color,kind", *rows]) + "\n")


def _damaged() -> None:
    """Models and results that no command has written so."""
    text = Path("plain.json").read_text()
    Path("link.json").symlink_to("plain.json")
    Path("edited.json").write_text(text.replace('"length_mm"', '"len"'))
    Path("half.json").write_text(text[: text.index("{") + 1] + '\n  "format')
    model = load("plain.json")
    save(Model.of(model.estimator, feature_names=model.feature_names), "arrays.json")
    iris = data.load("iris")
    save(
        Model.of(make("hhcart_a").fit(iris.X, iris.y), classes=iris.classes, feature_names=iris.feature_names),
        "bare.json",
    )
    for name, label, share in (("share", "fault", "x"), ("class", "falt", 0.2), ("range", "fault", 1.5)):
        document = json.loads(Path("threshold.json").read_text())
        document["threshold"] = {"class": label, "share": share}
        document["digest"] = file_format.digest(document)
        Path(f"bad_{name}.json").write_text(json.dumps(document))
    for folder in ("damaged", "foreign"):
        Path(folder).mkdir()
    Path("damaged/oblique.sqlite").write_bytes(b"These were results once. " * 400)
    with closing(sqlite3.connect("foreign/oblique.sqlite")) as base, base:
        base.execute("CREATE TABLE t (x)")
    Path("seeds").mkdir()
    Path("seeds/seeds.csv").write_text("damaged")


@cache
def recorded() -> dict[str, tuple[int, str]]:
    """Command lines with their exit codes and messages; a line that begins with # is a heading."""
    text = re.sub(r"^#.*\n", "", MESSAGES.read_text(encoding="utf-8"), flags=re.MULTILINE)
    blocks = (block.partition("\n") for block in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:])
    answers = ((words, answer.strip("\n").partition(" ")) for words, _, answer in blocks)
    return {words: (int(code or 0), message) for words, (code, _, message) in answers}


LONG = 400  # letters of a line; lists of all names go on
PROGRESS = re.compile(r"^.*(, \d+:\d\d|  left \S+ s?)\n", re.MULTILINE)  # which a busy machine shows


def answered(words: str) -> tuple[int, str, str]:
    """Run a command; return its exit code, and what it printed, without paths of this machine."""
    out, error = io.TextIOWrapper(io.BytesIO()), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
        code = cli.call(shlex.split(words))
        out.flush()
    lines = PROGRESS.sub("", error.getvalue()).replace(f"{Path.cwd()}/", "").splitlines()
    message = "\n".join(line if len(line) <= LONG else f"{line[:LONG]}..." for line in lines)
    return code, out.buffer.getvalue().decode(), message


def state() -> dict[str, tuple[int, int]]:
    """The files of the folder with their sizes and times, but for those that SQLite keeps beside a database."""
    paths = (path for path in Path().rglob("*") if path.is_file() and path.suffix not in (".sqlite-wal", ".sqlite-shm"))
    return {str(path): (path.stat().st_size, path.stat().st_mtime_ns) for path in paths}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The folder that `build` fills, as the current one."""
    with contextlib.chdir(tmp_path_factory.mktemp("messages")), pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_CACHE_HOME", "/no cache")
        patch.delenv("OBLIQUE_DATA", raising=False)
        build()
        yield


@pytest.mark.parametrize("words", recorded())
def test_bad_input_is_one_sentence_with_its_code_and_writes_nothing(folder, words):
    before = state()
    code, out, message = answered(words)
    assert (code, out, message) == (recorded()[words][0], "", recorded()[words][1])
    # A line, or the blocks of a configuration: place and sentence, the line it stands in, a marker, how many they are.
    assert re.fullmatch(r"error: .*|(.*\n( +\d+ \| .*\n +\^+\n)?)+\d+ errors?\.", message)
    assert state() == before


def renew() -> None:
    """Write the answers to the command lines of messages.txt anew."""
    os.environ["XDG_CACHE_HOME"] = "/no cache"
    os.environ.pop("OBLIQUE_DATA", None)
    lines = [line for line in MESSAGES.read_text(encoding="utf-8").splitlines() if line.startswith(("# ", "$ "))]
    with tempfile.TemporaryDirectory() as place, contextlib.chdir(place):
        build()
        for number, line in enumerate(lines):
            if line.startswith("$ "):
                code, _, message = answered(line[2:])
                lines[number] += f"\n{code} {message}"
    MESSAGES.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    renew()
