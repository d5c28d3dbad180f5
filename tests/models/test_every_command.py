"""Every command that takes a model file works for every class of models, or refuses the model in one sentence."""

import pytest
from model_commands import COMMANDS, model_of, write_numbers, write_table
from robustness_support import NAMES, REGRESSION

from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.estimators.oblique.heuristics import HeuristicTreeClassifier
from oblique_cli.models import save

# Trees of different heuristics have one form of model.
HEURISTIC = [name for name in NAMES if issubclass(ALGORITHMS[name].estimator, HeuristicTreeClassifier)]
CASES = [name for name in NAMES if name not in HEURISTIC[1:] or name in HEURISTIC[1::5]]
# Files of another form, by turns: three algorithms of a kind have all of them.
FORMS = [command for command in COMMANDS if "--output" in command]


@pytest.mark.sample(2)
@pytest.mark.parametrize("name", CASES)
def test_every_command_takes_a_model_of_an_algorithm_or_says_why_not(name, call):
    (write_numbers if name in REGRESSION else write_table)(call.folder)
    save(model_of(name), call.folder / "model.json")
    for command in [*(c for c in COMMANDS if c not in FORMS), *FORMS[CASES.index(name) % 3 :: 3]]:
        ended = call(*command)
        text = f"{' '.join(command)}: {ended.err}"
        assert ended.code in (0, 2), text
        if ended.code:
            assert ended.err.startswith("error: ") and ended.err.count("\n") == 1, text
        elif "--output" in command:
            assert (call.folder / command[-1]).stat().st_size > 0, text
    # What makes a model of use is never refused.
    assert call(*COMMANDS[0]).code == 0 and call("score", "model.json", "new.csv").code == 0
