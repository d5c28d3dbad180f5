"""Delimited text: the layout of its lines, and its rows.

A sample of the first lines determines the delimiter and the lines that are no rows. Lines below the table (totals,
sources, empty lines) are recognized only at the end, so possible ones are held back until a row follows them.
"""

from __future__ import annotations

import csv
import io
import itertools
import re
from collections import Counter, deque
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from oblique_cli.data.own.numbers import MARKS, NUMBER_MARKS, WORDS
from oblique_cli.data.own.opened import Row
from oblique_cli.data.own.source import Source
from oblique_cli.errors import ConfigError, DataError, quoted
from oblique_cli.ground.nouns import TextOptions

DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar", " ": "blanks"}
NAMED = {"comma": ",", "semicolon": ";", "tab": "\t", "\\t": "\t", "pipe": "|", "space": " ", "blanks": " "}
HEADERS = ("first", "none")  # the first row has the names of the columns, or there are none
COMMENTS = ("#", "%", "//")
NO_COMMENT = "none"

SAMPLE = 200  # lines that determine the layout
MAX_LINE = 1 << 24  # characters
MOST_ABOVE = 20  # lines above the header
MOST_UNDER = 3  # lines of units or further names below the header
MOST_BELOW = 100  # lines below the table that are not empty
MOST_SHOWN = 3
# Words for a missing number that are no units.
NO_UNITS = (
    "n.d.", "nd", "k.a.", "nil", "undefined", "unknown", "unbekannt", "inf", "infinity", "error", "true", "false",
)  # fmt: skip

_SEPARATOR = re.compile(r'"?sep=([^"\r\n])"?', re.I)
# Also with a unit sign, in brackets, or with a flag; only to exclude headers.
_NUMBER_LIKE = re.compile(
    r"[-+\u2212(<>]{0,2}\s?[^\w\s.,'-]?\s?[0-9][0-9.,'\u2019\u00a0\u202f -]*(?:[eE][-+]?[0-9]+)?\s?[%)*]?"
)
_DIGITS = re.compile(r"[^0-9]{0,4}[0-9].*")  # also a number with a unit, a code or a date
_UNIT = re.compile(r"[^\W\d_]|[\[(%\u2030\u00b0\u20ac$\u00a3#/]")  # beginning of a unit or a second name
_ALIGNED = re.compile(r"[0-9.]\s{2,}[-+.0-9]")  # numbers in separate columns
_TOTAL = re.compile(
    r"(?:(?:grand|sub|over-?all)[ -]?)?(?:totals?|sums?|summe|gesamt(?:summe)?|insgesamt|totaux|totale?s?|averages?|"
    r"means?|mittelwert|durchschnitt|zusammen)(?: \([^)]*\))?[:.]?",
    re.I,
)
_NOTES = r"sources?|notes?|remarks?|footnotes?|legend|quellen?|anmerkung(?:en)?|hinweise?|stand|fonte"
_MADE = "generated|exported|downloaded|updated|printed"
# The beginning of every text that _FOOTER matches
_BELOW_START = re.compile(rf"(?:{_NOTES}|{_MADE}|last|end)\b|[\u00a9(*\u2020\u20210-9]|[-=_*]{{3}}", re.I)
_LABELLED = re.compile(r"[^\W\d_]+ ?: ?\S")  # Fuente: INE
_FOOTER = re.compile(
    rf"(?:{_NOTES}|last updated?|(?:{_MADE}) (?:by|on|from|at))\b\s?[:(\d]?|"
    r"\u00a9|\(c\)|[*\u2020\u2021]+\s?\S|\(?[0-9]+ rows?\b|end of (?:file|table|report)|[-=_*]{3,}$",
    re.I,
)

# Kinds of columns in the second line of Orange's header, and the flags of its third.
ORANGE_KINDS = {
    "c": "number", "continuous": "number", "d": "levels", "discrete": "levels", "s": "text", "string": "text",
    "t": "date", "time": "date",
}  # fmt: skip
_ORANGE_FLAGS = re.compile(r"|c|class|m|meta|i|ignore|w|weight|[\w]+=\S+")
ORANGE_TARGETS = ("c", "class")


@dataclass
class Notes:
    """Lines of a file that are no rows, by kind."""

    lines: dict[str, list[tuple[int, str]]] = field(default_factory=dict)
    count: Counter[str] = field(default_factory=Counter)
    last: dict[str, int] = field(default_factory=dict)

    def add(self, what: str, line: int, text: str) -> None:
        """Record a line."""
        self.count[what] += 1
        self.last[what] = line
        if self.count[what] <= MOST_SHOWN:
            self.lines.setdefault(what, []).append((line, text.strip()))

    def add_above(self, line: int, text: str, comment: str = "") -> None:
        """Record a line above the header, unless it is blank. comment : as in `Layout`"""
        if text.strip(" \t\r\n,;|"):
            self.add(COMMENT if comment and text.lstrip().startswith(comment) else ABOVE, line, text)

    def sentences(self) -> list[str]:
        """Return the messages for the user."""
        sentences = []
        for what, count in self.count.items():
            first, shown = self.lines[what][0][0], [quoted(text) for _, text in self.lines[what] if text]
            last = self.last[what]
            span = f"lines {first} to {last}" if count == last - first + 1 else f"{count} lines from {first} to {last}"
            span = span if count > 1 else f"line {first}"
            quote = f" ({', '.join(shown)}{', ...' if count > MOST_SHOWN else ''})" if shown else ""
            sentences.append(f"{span} left out: {what}{quote}.")
        return sentences


ABOVE = "above the header (--skip 0 reads them)"
COMMENT = "comments (--comment none reads them)"
SECOND = "further lines of the header (--header first reads these as rows)"
AGAIN = "the header once more"
BELOW = "below the table (--skip-end 0 reads them)"
EMPTY = "nothing in them"


class Layout(NamedTuple):
    """Layout of the lines of a text.

    runs : whether several consecutive delimiters count as one
    above : lines above the header
    commented : whether the line of the header begins with the sign of comments
    under : lines of units or further names under the header; row_names : whether the first column has no name
    orange : whether two lines under the header have kinds and flags of Orange"""

    delimiter: str
    runs: bool = False
    above: int = 0
    comment: str = ""
    commented: bool = False
    under: int = 0
    row_names: bool = False
    orange: bool = False

    def is_plain(self, options: TextOptions) -> bool:
        """Return whether every line below the header is a row."""
        strange = self.runs or self.comment or self.under or self.orange
        return not (strange or options.header == "none" or options.skip_end)


def delimiter_of(text: str) -> str:
    """Return the delimiter of an option: a character, or its name, such as "tab"."""
    delimiter = NAMED.get(text.lower(), text)
    if len(delimiter) != 1 or delimiter in '"\r\n\0':
        raise ConfigError(f"a delimiter is one character, or {', '.join(NAMED)}. Got {quoted(text)}.")
    return delimiter


def lines_of(stream: Any, charset: str, where: str) -> Iterator[str]:
    """Yield lines with their line ends, of any kind."""
    text = io.TextIOWrapper(stream, encoding="utf-8-sig" if charset == "utf-8" else charset, newline="")
    number = 0
    try:
        while line := text.readline(MAX_LINE):
            number += 1
            if "\0" in line:
                raise DataError(f"{where}: line {number} holds a NUL byte, so this is not a text file")
            if len(line) == MAX_LINE:
                raise DataError(f"{where}: line {number} has more than {MAX_LINE} characters, so this is no table")
            yield line
    except UnicodeError:
        raise DataError(
            f"{where}: line {number + 1} or one soon after it is not {charset} text; say what it is with --charset, "
            "as in --charset cp1252"
        ) from None
    finally:
        with suppress(ValueError, DataError):
            text.detach()


# ---- rows ------------------------------------------------------------------------------------------------------------


def text_rows(
    lines: Iterator[str], layout: Layout, options: TextOptions, where: str, notes: Notes
) -> tuple[Row, Iterator[Row]]:
    """Return the header (the first row if there are no names) and the rows below it, all of equal length; DataError,
    with the line, for any other row."""
    for number in range(1, layout.above + 1):
        if not _SEPARATOR.fullmatch((line := next(lines, "")).strip()):
            notes.add_above(number, line, layout.comment)
    return rows_below(cut_rows(lines, layout, where, layout.above, notes), layout, options, where, notes)


def rows_below(
    rows: Iterator[Row], layout: Layout, options: TextOptions, where: str, notes: Notes
) -> tuple[Row, Iterator[Row]]:
    """Return header and rows, as `text_rows`, from rows that begin with the header."""
    first = next(rows, None)
    if first is None:
        raise DataError(f"{where}: the file is empty")
    line, cells = first
    header = ["", *cells] if layout.row_names else cells
    if options.header == "none":
        rows = itertools.chain([first], rows)
    elif layout.under:
        for under, names in itertools.islice(rows, layout.under):
            notes.add(SECOND, under, ", ".join(filter(None, names)))
    return (line, header), without_others(rows, header, options, where, notes)


def without_others(
    rows: Iterator[Row], header: Sequence[str], options: TextOptions, where: str, notes: Notes
) -> Iterator[Row]:
    """Return rows without the lines below the table, all as long as the header."""
    if options.skip_end:
        rows = _without_last(rows, options.skip_end, notes)
    elif options.skip_end is None:
        comments = () if options.comment == NO_COMMENT else COMMENTS
        rows = _without_end(rows, header, options.header != "none", notes, comments)
    return _even(rows, len(header), where)


def cut_rows(lines: Iterator[str], layout: Layout, where: str, before: int, notes: Notes) -> Iterator[Row]:
    """Yield rows without empty lines and comments. before : lines read already. A blank line is a row only below a
    header of one column, where it may be an empty cell."""
    number = before
    whole = True  # whether the next line begins a row: a quoted cell may span lines
    sign, commented = layout.comment, layout.commented

    def fed() -> Iterator[str]:
        nonlocal number, whole, commented
        for line in lines:
            number += 1
            if whole and sign and line.lstrip().startswith(sign):
                if not commented:
                    notes.add(COMMENT, number, line)
                    continue
                commented, bare = False, line.lstrip().removeprefix(sign)
                line = (
                    bare.lstrip() if bare[:1] in (" ", "\t") and (layout.runs or layout.delimiter != bare[:1]) else line
                )
            whole = False
            if layout.runs:
                line = _joined(line, layout.delimiter)
            yield line

    plain = not sign and not layout.runs
    reader = csv.reader(lines if plain else fed(), delimiter=layout.delimiter, skipinitialspace=True, strict=True)
    blank_is_row = False
    try:
        for row in reader:
            whole = True
            if len(row) > 1 or (row and (blank_is_row or row[0].strip())):
                yield before + reader.line_num if plain else number, list(map(str.strip, row))
                blank_is_row = len(row) == 1
    except csv.Error as error:
        line = before + reader.line_num if plain else number
        raise DataError(f"{where}: line {line} cannot be read as CSV ({error})") from None


def _joined(line: str, delimiter: str) -> str:
    """Return a line with each run of delimiters replaced by one."""
    if delimiter == " ":
        return line.replace("\t", " ").strip(" \r\n") + "\n"
    return re.sub(f"{re.escape(delimiter)}+", lambda _: delimiter, line.strip("\r\n").rstrip(delimiter)) + "\n"


def _without_last(rows: Iterator[Row], count: int, notes: Notes) -> Iterator[Row]:
    held: deque[Row] = deque()
    for row in rows:
        held.append(row)
        if len(held) > count:
            yield held.popleft()
    for line, cells in held:
        notes.add(BELOW.partition(" (")[0], line, ", ".join(filter(None, cells)))


def _without_end(
    rows: Iterator[Row], header: Sequence[str], named: bool, notes: Notes, comments: tuple[str, ...]
) -> Iterator[Row]:
    """Yield rows without the lines below the table, comments of another length, and repeated headers. An empty
    row, a total or a note is held back: it is a row if others follow it."""
    p = len(header)
    held: list[Row] = []
    before = deque[list[str]](maxlen=5)  # the last rows
    totals = True  # whether a row may be a total: it is a level if rows follow it
    for line, cells in rows:
        if len(cells) == p > 1 and cells[1] and cells[0][-1:].isdigit() and not held:
            yield line, cells  # most rows
            before.append(cells)
            continue
        even = len(cells) == p or (len(cells) == p + 1 and not cells[-1])
        if even and named and cells == header and p > 1:
            notes.add(AGAIN, line, "")
            continue
        alone = even and p > 2 and " " in cells[0] and not any(cells[1:])  # in a sheet
        if (alone or not even) and cells[0].startswith(comments):
            notes.add(COMMENT, line, ", ".join(filter(None, cells)))
            continue
        if _may_be_below(cells, p, even, bool(held), totals, before) and len(held) < MOST_BELOW:
            held.append((line, cells))
            continue
        if held:
            totals = totals and not any(_TOTAL.fullmatch(next(filter(None, waiting), "")) for _, waiting in held)
            yield from held
            held = []
        yield line, cells
        before.append(cells)
    for line, cells in held:
        notes.add(BELOW if any(cells) else EMPTY, line, ", ".join(filter(None, cells)))


def _may_be_below(
    cells: Sequence[str], p: int, even: bool, follows: bool, totals: bool, before: Iterable[Sequence[str]]
) -> bool:
    """Return whether a row may be a line below the table. follows : whether the row before may be one; totals :
    whether a total counts; before : some rows above"""
    first = cells[0]
    some = [cell for cell in cells if cell]
    if not some:
        return p > 1
    if totals and p > 1 and len(cells) <= p + 1 and _TOTAL.fullmatch(some[0]):
        return True
    note = _FOOTER.match(" ".join(some))
    if even and (p < 3 or len(some) > 1):
        # A note with as many words as there are columns has words in number columns.
        columns = zip(cells, *(row for row in before if len(row) == len(cells)), strict=True)
        below = [cell for cell, *above in columns if any(map(_DIGITS.fullmatch, above))]
        words = any(cell.lower() not in (*MARKS, *NUMBER_MARKS) for cell in below)
        prose = words and not any(map(_DIGITS.fullmatch, below))
        return bool(note and p > 1 and (prose or note[0].rstrip().endswith(":")))
    if not first:
        return False
    prose = len(first.split()) > 2 and (len(some) == 1 or some[-1].endswith("."))
    return bool(note or follows or prose or _LABELLED.match(" ".join(some)))


def begins_row(first: str) -> bool:
    """Return whether a line of several cells is certainly a row, because of its first cell."""
    return bool(first) and not _BELOW_START.match(first) and not _TOTAL.fullmatch(first)


def _even(rows: Iterator[Row], p: int, where: str) -> Iterator[Row]:
    """Yield rows as long as the header. A delimiter that ends every row but not the header is skipped."""
    for line, cells in rows:
        if len(cells) == p + 1 and not cells[-1]:
            cells.pop()
        if len(cells) != p:
            fields = "1 field" if len(cells) == 1 else f"{len(cells)} fields"
            raise DataError(
                f"{where}: line {line} has {fields}, the header has {p}; mend the line, or say --skip, --skip-end or "
                "--comment if lines of the file are no rows"
            )
        yield line, cells


# ---- layout ----------------------------------------------------------------------------------------------------------


def layout_of(source: Source, charset: str, options: TextOptions) -> Layout:
    """Return the layout of a text; the first lines determine what `options` leave open. The best delimiter
    splits all lines like the header, leaves out fewest lines, then yields most cells. DataError for a tie."""
    with source.opened() as stream:
        sample = list(itertools.islice(lines_of(stream, charset, source.where), SAMPLE))
    delimiter = options.delimiter and delimiter_of(options.delimiter)
    above = options.skip or 0
    if options.skip is None and (match := _SEPARATOR.fullmatch(sample[0].strip() if sample else "")):
        above, delimiter = 1, delimiter or match[1]
    ways = [Layout(sign, sign == " ", above) for sign in ([delimiter] if delimiter else DELIMITERS)]
    if sum("\t\t" in line for line in sample) > len(sample) / 2:
        ways += [way._replace(runs=True) for way in ways if way.delimiter == "\t"]
    comment = _comment(sample[above:]) if not options.comment else options.comment.replace(NO_COMMENT, "")
    ranked = [_ranked(way._replace(comment=comment), sample, options) for way in ways]
    best = min(rank for rank, _ in ranked)
    layouts = [layout for rank, layout in ranked if rank == best]
    if len(layouts) > 1 and best < ALONE:
        names = " or ".join(DELIMITERS[layout.delimiter] for layout in layouts)
        raise DataError(f"{source.where}: the header can be cut at {names} alike; say which with --delimiter")
    return layouts[0]


ALONE: tuple[Any, ...] = (2,)  # the rank of a layout whose lines are single cells


def _comment(lines: Sequence[str]) -> str:
    """Return the comment sign at the beginning of the first line, unless all lines begin with it."""
    texts = [line.strip() for line in lines if line.strip()]
    sign = next((sign for sign in COMMENTS if texts and texts[0].startswith(sign)), "")
    return sign if sign and not all(text.startswith(sign) for text in texts) else ""


def _ranked(layout: Layout, sample: Sequence[str], options: TextOptions) -> tuple[tuple[Any, ...], Layout]:
    """Return the rank of a layout, smaller is better, and the layout with the lines above its header: all rows as long
    as the header, few lines left out, cells without other delimiters."""
    rows: list[Row] = []
    with suppress(DataError):
        rows.extend(cut_rows(iter(sample[layout.above :]), layout, "", layout.above, Notes()))
    if len(sample) == SAMPLE and rows:  # the last row may be incomplete
        rows.pop()
        sample = sample[: rows[-1][0]] if rows else []
    if not rows:
        return ALONE, layout
    layout = _with_header(layout, rows, sample, options)
    notes, even, cut = Notes(), True, [cells for _, cells in rows]
    try:
        (_, header), body = text_rows(iter(sample), layout, options, "", notes)
        cut = [header, *(cells for _, cells in body)]
    except DataError:
        even = False
    p = len(cut[0])
    share = sum(len(cells) == p for cells in cut) / len(cut)
    if p < 2 or (layout.delimiter == " " and not even and share < 0.8):
        return ALONE, layout
    left_out = sum(count for what, count in notes.count.items() if what != EMPTY)
    return (not even, -share, _strangeness(cut, layout), left_out, layout.delimiter == " ", layout.runs, -p), layout


def _strangeness(rows: Sequence[Sequence[str]], layout: Layout) -> int:
    """Return the number of signs of a wrong layout: words with other delimiters; cells with several numbers, or an
    empty nameless column between others; a name that is a number."""
    others = set(DELIMITERS) - {layout.delimiter, " "}
    words = (cell for cells in rows for cell in cells if not others.isdisjoint(cell))
    divided = any(not _NUMBER_LIKE.fullmatch(cell) for cell in words)
    columns = list(itertools.zip_longest(*rows, fillvalue=""))
    aligned = any(sum(map(bool, map(_ALIGNED.search, column))) > 0.9 * (len(column) - 1) for column in columns)
    return divided + (aligned or not all(map(any, columns[1:-1]))) + any(map(_NUMBER_LIKE.fullmatch, rows[0]))


def layout_of_rows(rows: Sequence[Row], options: TextOptions) -> Layout:
    """Return the layout of a sheet's rows; all have the same number of cells."""
    above = options.skip or 0
    return _with_header(Layout("", above=above), [row for row in rows[:SAMPLE] if row[0] > above], (), options)


def _with_header(layout: Layout, rows: list[Row], sample: Sequence[str], options: TextOptions) -> Layout:
    """Return the layout with the lines above its header. rows : of the sample, without blank lines and comments"""
    cells = [row for _, row in rows] or [[""]]
    lengths = Counter(map(len, cells))
    p = max(lengths, key=lambda length: (lengths[length], length))
    if lengths[p - 1] and not any(row[-1] for row in cells if len(row) == p):
        p -= 1  # all rows end with a delimiter
    named = options.header != "none"
    at = _place(cells, p, named) if options.skip is None else 0
    if at:
        layout = layout._replace(above=rows[at - 1][0])
    first, below = cells[at], cells[at + 1 :]
    if layout.comment and named and not at and not _is_header(first, below):
        tops = [k for k, line in enumerate(sample[: rows[0][0]], 1) if line.lstrip().startswith(layout.comment)]
        last = layout._replace(above=tops[-1] - 1, commented=True) if tops and tops[-1] > layout.above else layout
        header = next((row for _, row in cut_rows(iter(sample[last.above :]), last, "", 0, Notes())), [])
        if last.commented and len(header) == p and all(header):
            layout, first, below = last, header, cells
    orange = layout.delimiter == "\t" and len(below) > 1 and is_orange(*below[:2])
    return layout._replace(
        row_names=named and _has_row_names(first, below, p),
        under=0
        if options.header or orange
        else next((k for k in range(MOST_UNDER) if not _is_under(first, below[k:])), MOST_UNDER),
        orange=orange,
    )


def _place(rows: Sequence[list[str]], p: int, named: bool) -> int:
    """Return the place of the header: the first row as long as the others, below titles. named : whether it exists"""
    full = (
        i for i, row in enumerate(rows[: MOST_ABOVE + 1]) if _is_as_long(row, p) and (sum(map(bool, row)) > 1 or p < 3)
    )
    at = next(full, 0)
    if (
        at
        and not all(sum(map(bool, row)) < 2 for row in rows[:at])
        and not (named and _is_header(rows[at], rows[at + 1 :]))
    ):
        return 0
    # Titles above groups of columns, or names with values, are followed by the header.
    full = (i for i, row in enumerate(rows[: MOST_ABOVE + 1]) if i >= at and _is_as_long(row, p) and all(row[:p]))
    later = next(full, at)
    return later if named and later > at and _is_header(rows[later][:p], rows[later + 1 :]) else at


def _is_as_long(row: Sequence[str], p: int) -> bool:
    return len(row) == p or (len(row) == p + 1 and not row[-1])


def _is_header(row: Sequence[str], below: Sequence[list[str]]) -> bool:
    """Return whether a row certainly has column names: no numbers, no repetition, and numbers below."""
    if not all(row) or len(set(row)) < len(row) or any(map(_NUMBER_LIKE.fullmatch, row)):
        return False
    columns = _columns_below(row, below)
    return any(map(_is_numeric, columns)) and not any(map(list.__contains__, map(list, columns), row))


def _columns_below(header: Sequence[str], rows: Sequence[list[str]]) -> list[tuple[str, ...]]:
    """Return the columns of the rows, without lines that are certainly no rows."""
    p = len(header)
    some = (row for row in rows if _is_as_long(row, p) and row != header and (p < 3 or sum(map(bool, row)) > 1))
    return list(zip(*(row for row in some if not _TOTAL.fullmatch(row[0])), strict=False))


def _is_numeric(cells: Sequence[str], form: re.Pattern[str] = _NUMBER_LIKE) -> bool:
    some = [cell for cell in cells if cell and cell.lower() not in MARKS]
    return len(some) > 1 and sum(form.fullmatch(cell) is not None for cell in some) >= 0.9 * len(some)


def is_orange(kinds: Sequence[str], flags: Sequence[str]) -> bool:
    """Return whether two rows below the names are kinds and flags of Orange; a list of levels is a kind as well."""
    if not all(kind in ORANGE_KINDS or len(kind.split()) > 1 for kind in kinds) or set(kinds).isdisjoint(ORANGE_KINDS):
        return False
    return all(map(_ORANGE_FLAGS.fullmatch, flags)) and sum(flag in ORANGE_TARGETS for flag in flags) < 2


def _has_row_names(header: Sequence[str], below: Sequence[list[str]], p: int) -> bool:
    """Return whether the header has one name fewer than all rows, as R writes row names, which are all different."""
    if len(header) != p - 1 or len(below) < 2 or any(map(_NUMBER_LIKE.fullmatch, header)):
        return False
    names = [row[0] for row in below]
    counted = names == [str(k) for k in range(1, len(names) + 1)]
    return (
        all(len(row) == p for row in below)
        and len(set(names)) == len(names)
        and (counted or not any(map(_NUMBER_LIKE.fullmatch, names)))
    )


def _is_under(header: Sequence[str], below: Sequence[list[str]]) -> bool:
    """Return whether the row below the header has units or further names: words above numbers only, none repeated."""
    if len(below) < 4 or not _is_as_long(below[0], len(header)):
        return False
    row, columns = below[0], _columns_below(header, below[1:])
    pairs = [(cell, column, _is_numeric(column, _DIGITS)) for cell, column in zip(row, columns, strict=False)]
    words = [cell for cell, _, numeric in pairs if numeric]
    some = [cell for cell in words if cell not in ("", "-")]
    if not some or 2 * len(some) < len(words) or any(_NUMBER_LIKE.fullmatch(cell) for cell in row):
        return False
    if any(not _UNIT.match(cell) or cell.lower() in (*MARKS, *WORDS, *NO_UNITS) for cell in some):
        return False
    others = [(cell, column) for cell, column, numeric in pairs if cell and not numeric]
    return not any(cell in column for cell, column in others) and (len(some) > 1 or not others)
