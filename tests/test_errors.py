"""What sentences quote of a user's file stays short."""

from hypothesis import given
from hypothesis import strategies as st

from oblique_cli.errors import cut, quoted


@given(st.text(), st.integers(3, 80))
def test_a_text_is_kept_or_cut_with_three_dots(text, most):
    result = cut(text, most)
    assert len(result) <= most
    assert result == text or (len(text) > most and result.endswith("...") and text.startswith(result[:-3]))


def test_a_value_is_quoted_in_at_most_sixty_characters():
    assert quoted("a\nb") == "'a\\nb'"
    assert quoted("x" * 50_000) == "'" + "x" * 56 + "..."
    assert quoted([1, 2]) == "[1, 2]"
