"""The house has floors: a module imports from floors below its own or from its own folder, and nothing else."""

import ast
import graphlib
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import pytest
import yaml

import oblique_cli
from oblique_cli.ground import extensions
from tools.rooms import CORE, PACKAGE, ROOT, imports, includes, modules, room, walk_executed

RULES = yaml.safe_load(Path(__file__).with_name("floors.yaml").read_text(encoding="utf-8"))
FLOORS, CORE_FLOORS = RULES["floors"], RULES["core_floors"]

MODULES = modules()
COMMANDS_OF_PAPERS = tuple(p.as_posix() for p in MODULES if p.parts[0] == "papers" and p.stem.endswith("_command"))


def parsed(path: Path) -> ast.Module:
    """The syntax tree of a module, a path below the package. Trees of all modules at once would be slow to hold."""
    return ast.parse((PACKAGE / path).read_text(encoding="utf-8"))


def top_level_imports(path: Path) -> set[str]:
    """First names of what a module imports as soon as it is imported itself."""
    results: set[str] = set()
    for node in parsed(path).body:
        if isinstance(node, ast.Import):
            results |= {alias.name.split(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            results.add(str(node.module).split(".")[0])
    return results


def users_of(library: str) -> set[str]:
    return {p.as_posix() for p in MODULES if library in {name.split(".")[0] for name in imports(p)}}


def dotted_name(node: ast.expr) -> str:
    """a.b.c as it is written, "" for any other expression."""
    if isinstance(node, ast.Attribute):
        return f"{dotted_name(node.value)}.{node.attr}"
    return getattr(node, "id", "")


# What the calls in question have in their text: reading all modules as syntax trees would take seconds.
DOUBTFUL = re.compile(r"\b(eval|exec|compile|__import__|system|joblib|yaml|allow_pickle|shell|random)\b")


@cache
def calls(path: Path) -> list[tuple[str, bool, set[str]]]:
    """What a module calls by a dotted name, whether by place, and the names of what is not plainly False."""
    if not DOUBTFUL.search((PACKAGE / path).read_text(encoding="utf-8")):
        return []
    return [
        (dotted_name(node.func), bool(node.args), {str(k.arg) for k in node.keywords if not is_false(k.value)})
        for node in walk_executed(parsed(path))
        if isinstance(node, ast.Call)
    ]


def is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def test_a_module_imports_from_lower_floors_or_its_own_folder():
    for path in MODULES:
        check_floor(path)


def check_floor(path):
    here = room(path)
    if here == "__init__":  # the front door names what is behind it, and loads it on first use
        allowed = {f"{ROOT}.ground.later.{name}" for name in ("FORMER", "names_in_stub")}
        assert {name for name in imports(path) if name.split(".")[0] == ROOT} == allowed
        return
    assert here in FLOORS, f"{here} has no floor yet"
    for name in imports(path):
        parts = name.split(".")
        if parts[0] != ROOT or name in (ROOT, f"{ROOT}.__version__"):
            continue
        there = parts[1]
        assert there in FLOORS, f"{path} imports {name}, which has no floor"
        assert there == here or FLOORS[there] < FLOORS[here], f"{path} (floor {FLOORS[here]}) imports {name}"


def test_papers_are_named_by_their_doors_alone():
    for path in MODULES:
        if path.parts[0] == "papers" or path.as_posix() == "ground/extensions.py":
            continue
        assert not {name for name in imports(path) if name.startswith(extensions.PAPERS)}, path
        text = (PACKAGE / path).read_text(encoding="utf-8")
        assert f'"{extensions.PAPERS}' not in text and "{extensions.PAPERS}.{" not in text, path


def test_every_door_leads_somewhere():
    commands = {name.rpartition(".")[0] for section in extensions.COMMANDS.values() for name, _ in section.values()}
    there = {dotted(path) for path in MODULES}
    assert {*extensions.ALGORITHMS, *extensions.MODEL_KINDS, extensions.LAYOUTS, *oblique_cli._PLACES.values()} <= there
    assert commands <= there
    assert (PACKAGE / extensions.PUBLISHED / "tables.csv").is_file()


def test_importing_tables_leaves_their_doors_closed():
    table = "estimators.algorithms, oblique_cli.models.kinds, oblique_cli.models"
    assert not {name for name in loaded_by(f"import oblique_cli.{table}") if name.startswith(extensions.PAPERS)}


def dotted(path: Path) -> str:
    """Name of a module; a package goes by the name of its folder."""
    return ".".join((ROOT, *path.with_suffix("").parts)).removesuffix(".__init__")


def arrows(modules: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Modules of ours -> those that they import: `a.b.c` is the module a.b.c, or else c of the module a.b."""
    results: dict[str, set[str]] = {}
    for module, names in modules.items():
        ours = (next((m for m in prefixes(name) if m in modules), module) for name in names)
        results[module] = {other for other in ours if other != module}
    return results


def prefixes(name: str) -> Iterator[str]:
    """a.b.c, a.b and a."""
    while name:
        yield name
        name = name.rpartition(".")[0]


def circle(modules: Mapping[str, set[str]]) -> list[str]:
    """Modules that import one another in a circle, in its order; [] if there is none."""
    try:
        graphlib.TopologicalSorter(arrows(modules)).prepare()
    except graphlib.CycleError as error:
        return list(error.args[1])
    return []


def test_no_modules_import_each_other_in_a_circle():
    # Imports inside functions count too: they would hide a circle, not open it.
    assert circle({dotted(path): imports(path) for path in MODULES}) == []


def test_a_circle_is_found():
    assert circle({"a.x": {"a.y.thing"}, "a.y": {"b"}, "b": {"a.x.other", "numpy"}})
    assert not circle({"a": {"a.x.thing"}, "a.x": {"a.y.thing", "b"}, "a.y": {"b"}, "b": {"numpy.a"}})


def test_no_two_files_of_one_name_mean_different_things():
    names = [path.name for path in MODULES if path.name != "__init__.py"]
    repeated = {name for name in names if names.count(name) > 1}
    assert repeated == set(RULES["repeated"]), "rename one of them, or say what both mean"


def test_every_floor_is_lived_on():
    assert {room(path) for path in MODULES} | {"_core"} >= set(FLOORS) - {"__main__"}


@pytest.mark.parametrize("library", RULES["libraries"])
def test_a_library_is_used_in_one_place(library):
    allowed = (*RULES["libraries"][library], *(COMMANDS_OF_PAPERS if library == "click" else ()))
    assert {user for user in users_of(library) if not user.startswith(allowed)} == set()


def test_yaml_is_read_in_one_place():
    assert users_of("yaml") == {"ground/strict_yaml.py"}


@pytest.mark.parametrize("library", ["pickle", "cloudpickle", "dill", "shelve", "marshal", "dask"])
def test_a_library_is_used_nowhere(library):
    assert users_of(library) == set()


def test_nothing_runs_or_unpickles_what_it_reads():
    for path in MODULES:
        for called, _, not_false in calls(path):
            where = f"{path}: {called}"
            assert called not in ("eval", "exec", "compile", "__import__", "os.system"), where
            assert called not in ("joblib.load", "joblib.dump", "yaml.unsafe_load", "yaml.full_load"), where
            assert not not_false & {"allow_pickle", "shell"}, where


def test_yaml_is_read_by_safe_loaders_only():
    for user in users_of("yaml"):
        text = (PACKAGE / user).read_text(encoding="utf-8")
        assert set(re.findall(r"\w*Loader\b", text)) <= {"Loader", "SafeLoader", "CSafeLoader"}, user
        assert "yaml.Loader" not in text, user


def test_randomness_is_named_in_one_place():
    # A generator from a fixed seed or from a user's random_state is fine; the global state never is, but that of the
    # process in which classes of other libraries run, some of which draw from it.
    of_others = Path("estimators/outside/building.py")
    for path in MODULES:
        for called, seeded, _ in calls(path):
            if path == of_others and called in ("random.seed", "np.random.seed"):
                continue
            assert not called.startswith("random."), f"{path}: {called}"
            if called.startswith("np.random."):
                assert called in ("np.random.default_rng", "np.random.SeedSequence"), f"{path}: {called}"
                assert seeded, f"{path}: {called} without a seed"


def test_the_command_line_imports_numbers_inside_its_commands_only():
    for path in (p for p in MODULES if p.parts[0] == "cli" or p.as_posix() in COMMANDS_OF_PAPERS):
        assert top_level_imports(path) <= set(sys.stdlib_module_names) | {"click", "oblique_cli"}, path


def loaded_by(statement: str) -> set[str]:
    code = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return {name.split(".")[0] for name in done.stdout.split()} | set(done.stdout.split())


def test_importing_the_front_and_every_command_loads_nothing_numerical():
    # Modules with a leading underscore are imported by commands once they run.
    commands = [f"{ROOT}.cli.{p.stem}" for p in MODULES if p.parts[0] == "cli" and not p.stem.startswith("_")]
    front = [ROOT, f"{ROOT}.api", f"{ROOT}.data", *commands, *(dotted(Path(p)) for p in COMMANDS_OF_PAPERS)]
    loaded = loaded_by("import " + ", ".join(front))
    assert not loaded & {"numpy", "scipy", "sklearn", "pandas", "joblib", "yaml", "tabulate", "oblique_cli._core"}


def test_only_the_bindings_know_python():
    for path in sorted((PACKAGE / "core").rglob("*.[ch]pp")):
        if path.parent.name != "bindings":
            text = path.read_text(encoding="utf-8")
            assert "nanobind" not in text and "Python.h" not in text, path.name


def test_a_room_of_the_core_includes_from_lower_floors_or_itself():
    for path in sorted(CORE.rglob("*.[ch]pp")):
        here = path.relative_to(CORE).parts[0]
        for name in includes(path):
            there = name.split("/")[0]
            assert (CORE / name).is_file(), f"{path} includes {name}: write the path from core/"
            assert there == here or CORE_FLOORS[there] < CORE_FLOORS[here], f"{path} includes {name}"


def test_no_family_of_the_core_is_named_outside_its_file():
    core = PACKAGE / "core"
    registered = re.compile(r'^const Registered \w+\(\s*"(\w+)"', re.MULTILINE)
    names = {name for path in core.rglob("*.cpp") for name in registered.findall(path.read_text(encoding="utf-8"))}
    assert {"axis_parallel", "hhcart_a", "oc1_lc"} <= names
    for path in sorted(core.rglob("*.[ch]pp")):
        if path.parent.name != "families":
            named = names & set(re.findall(r'"(\w+)"', path.read_text(encoding="utf-8")))
            assert not named, f"{path} names {sorted(named)}"


def test_whoever_grows_forests_names_no_heuristic_of_forests():
    core = PACKAGE / "core"
    registered = re.compile(r'^const RegisteredSplit \w+\(\s*"(\w+)"', re.MULTILINE)
    results = [
        registered.findall(path.read_text(encoding="utf-8")) for path in (core / "heuristic/forests").glob("*.cpp")
    ]
    assert all(len(names) == 1 for names in results)
    names = {name for (name,) in results}
    assert {"axis", "mpsvm", "hhcart"} <= names
    for path in sorted((core / "grow").glob("*.[ch]pp")):
        assert not names & set(re.findall(r'"(\w+)"', path.read_text(encoding="utf-8"))), path


def test_the_tree_knows_no_heuristic_by_name():
    for path in (p for p in MODULES if p.parts[0] == "tree"):
        text = (PACKAGE / path).read_text(encoding="utf-8").lower()
        for name in ("hhcart", "hhgdt", "hhcrv", "gdt", "oc1"):
            assert f'"{name}' not in text and f"import {name}" not in text, f"{path} names {name}"
