"""Colors of all drawings, for light paper and for a dark screen."""

from __future__ import annotations

from typing import NamedTuple

# Readers with red-green blindness can distinguish these (Okabe and Ito).
COLORS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#F0E442", "#999999")
# The same hues, light enough for a dark screen.
DARK_COLORS = ("#4AA3DF", "#F2853A", "#2CC295", "#E29BC5", "#F2B63D", "#8CD0F7", "#F3EA6B", "#B5BBC4")
N_COLORS = len(COLORS)
TINT = 0.14  # opacity of a class color behind its leaves


class Look(NamedTuple):
    """A color for light and one for dark backgrounds; "" for none. Opacity is of the fill."""

    fill: str = ""
    dark_fill: str = ""
    line: str = ""
    dark_line: str = ""
    width: float = 1.0
    opacity: float = 1.0


STYLES: dict[str, Look] = {
    "page": Look("#ffffff", "#11151b"),
    "card": Look("#ffffff", "#1a2029", "#cdd4dd", "#3a4553"),
    "leaf": Look("#ffffff", "#1a2029", "#cdd4dd", "#3a4553"),
    "more": Look("#f1f3f6", "#202732", "#b4bcc8", "#4b5765"),
    "text": Look("#1b2430", "#e8ebf0"),
    "muted": Look("#5a6675", "#a2adbb"),
    "way": Look("#38424f", "#c3ccd8", "#ffffff", "#11151b", 4.0),  # the line is a halo that keeps links off the text
    "link": Look("", "", "#aab3c0", "#566272", 1.3),
    "axis": Look("", "", "#c2cad4", "#4a5665", 0.8),
    "cut": Look("", "", "#1b2430", "#e8ebf0", 1.3),
    "frame": Look("", "", "#aab3c0", "#566272", 1.0),
    "plus": Look("#5f6b7a", "#a9b4c2"),
    "minus": Look("#aeb7c3", "#5d6978"),
    **{f"k{k}": Look(*pair) for k, pair in enumerate(zip(COLORS, DARK_COLORS, strict=True))},
    **{f"t{k}": Look(*pair, opacity=TINT) for k, pair in enumerate(zip(COLORS, DARK_COLORS, strict=True))},
}
