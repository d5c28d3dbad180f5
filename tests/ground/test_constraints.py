"""Constraints: what they allow, how they say so, and the schema they give are one and the same."""

import math

import jsonschema
import numpy as np
import pytest
from contracts import ALGORITHM_NAMES, forbidden
from hypothesis import given, settings
from hypothesis import strategies as st

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.algorithms import ALGORITHMS
from oblique_cli.ground.constraints import Boolean, Choice, Integer, Optional, Real, check, violation

CONSTRAINTS = [
    Real(),
    Real(0.0, 2.0),
    Real(0.0, 1.0, open_low=True),
    Real(0.0, 1.0, open_high=True),
    Real(-1.0, open_low=True),
    Integer(),
    Integer(0),
    Integer(2, 5),
    Integer(high=3),
    Choice(("tolerant", "strict")),
    Boolean(),
    Optional(Integer(0)),
    Optional(Choice(("a", "b"))),
]


@pytest.mark.parametrize(
    ("constraint", "text"),
    [
        (Real(), "a number in (-inf, inf)"),
        (Real(0.0, 2.0), "a number in [0, 2]"),
        (Real(0.0, 1.0, open_low=True, open_high=True), "a number in (0, 1)"),
        (Real(0.0), "a number in [0, inf)"),
        (Integer(), "a whole number"),
        (Integer(1), "a whole number, at least 1"),
        (Integer(2, 5), "a whole number from 2 to 5"),
        (Integer(high=3), "a whole number, at most 3"),
        (Choice(("a", "b")), "one of 'a', 'b'"),
        (Boolean(), "true or false"),
        (Optional(Integer(0)), "a whole number, at least 0, or none"),
    ],
)
def test_a_constraint_says_what_it_allows(constraint, text):
    assert constraint.describe() == text


@pytest.mark.parametrize("constraint", CONSTRAINTS)
def test_forbidden_values_are_refused(constraint):
    for value in forbidden(constraint):
        assert not constraint.holds(value), value


def test_ends_types_of_numbers_and_none_are_in_or_out_as_asked():
    closed, opened = Real(0.0, 1.0), Real(0.0, 1.0, open_low=True, open_high=True)
    assert closed.holds(0) and closed.holds(1.0)
    assert not opened.holds(0.0) and not opened.holds(1) and opened.holds(1e-300)
    assert Integer(0, 3).holds(0) and Integer(0, 3).holds(3) and not Integer(0, 3).holds(4)
    assert Real(0.0).holds(np.float32(0.5)) and Real(0.0).holds(np.int64(3)) and Integer(0).holds(np.int32(3))
    for constraint in (Real(0.0), Integer(0)):
        assert not constraint.holds(True) and not constraint.holds(np.True_)
    assert Boolean().holds(False) and not Boolean().holds(0)
    assert Optional(Integer(0)).holds(None) and not Integer(0).holds(None)


@given(
    st.sampled_from(CONSTRAINTS),
    st.one_of(
        st.none(), st.booleans(), st.integers(-9, 9), st.floats(-3, 3), st.sampled_from(["a", "strict", "1", ""])
    ),
)
@settings(deadline=None, derandomize=True, max_examples=100)
def test_the_schema_allows_what_the_constraint_allows(constraint, value):
    validator = jsonschema.Draft202012Validator(constraint.schema())
    # JSON knows one kind of number: 2.0 is a whole number there.
    if isinstance(value, float) and value.is_integer() and not constraint.holds(value):
        return
    assert validator.is_valid(value) == constraint.holds(value)


def test_the_sentence_names_parameter_owner_allowed_and_got_of_the_first_fault():
    assert violation("tau", -0.1, Real(0.0, 2.0), "Reflection") == (
        "tau of Reflection must be a number in [0, 2]. Got -0.1."
    )
    assert violation("tau", 0.1, Real(0.0, 2.0), "Reflection") is None
    table = {"a": Integer(0), "b": Boolean()}
    check({"a": 1, "b": True, "c": object()}, table, "Thing")
    check({}, table, "Thing")
    with pytest.raises(ConfigError, match=r"^b of Thing must be true or false\. Got 3\.$"):
        check({"a": 1, "b": 3}, table, "Thing")
    with pytest.raises(ValueError, match=r"^a of Thing must be a whole number, at least 0\. Got nan\.$"):
        check({"a": math.nan, "b": 3}, table, "Thing")


@pytest.mark.parametrize("name", ALGORITHM_NAMES)
def test_every_forbidden_parameter_of_every_algorithm_is_named_in_one_sentence(name):
    algorithm = ALGORITHMS[name]
    for parameter, constraint in algorithm.parameters.items():
        for value in forbidden(constraint):
            with pytest.raises(ConfigError) as caught:
                algorithm.make(**{parameter: value})
            assert str(caught.value) == f"{parameter} of {name} must be {constraint.describe()}. Got {value!r}."
