"""What an algorithm has learned of a degenerate table can be saved, read and asked again."""

import pytest
from robustness_support import DEGENERATE, NAMES, degenerate, same_when_loaded


@pytest.mark.sample(37)
@pytest.mark.covered(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("table", DEGENERATE)
@pytest.mark.parametrize("name", NAMES)
def test_a_model_that_was_fitted_is_saved_and_read_and_predicts_the_same_bits(name, table, tmp_path):
    same_when_loaded(name, *degenerate(name, table), tmp_path)
