"""Type of a column of a user's table: numbers, levels, dates, or left out."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from oblique_cli.data.own import cell_forms
from oblique_cli.data.own import dates as own_dates
from oblique_cli.data.own import numbers as own_numbers
from oblique_cli.data.own import roles as own_roles
from oblique_cli.data.own.columns import Column
from oblique_cli.data.own.notes import as_typed
from oblique_cli.data.own.numbers import Form, Mostly
from oblique_cli.data.own.opened import NeedsTexts, NumberCells
from oblique_cli.errors import ConfigError, DataError, cut_list, quoted
from oblique_cli.ground.labels import OTHER, label_order

if TYPE_CHECKING:
    from oblique_cli.data.own.look import Reading

SEVERAL = 3  # least number of different numbers in a column of numbers that has other cells


class Marks:
    """Marks of missing values. marks : the user's marks, in addition to the usual ones or instead of them (`only`)"""

    def __init__(self, marks: Sequence[str], only: bool) -> None:
        self.added = tuple(mark.strip().lower() for mark in marks)
        self.only = only
        usual = () if only else (*own_numbers.MARKS, *own_numbers.NUMBER_MARKS)
        self.known = tuple(dict.fromkeys((*usual, *self.added)))  # among numbers

    def in_numbers(self, cell: str) -> bool:
        """Return whether a cell of a number column is missing."""
        return not cell or cell.lower() in self.known

    def among_numbers(self, counts: Counter[str]) -> Counter[str]:
        """Return the cells of a number column that are not missing. counts : cell -> rows"""
        known = frozenset(("", *self.known))
        missing = {cell for cell, text in zip(counts, map(str.lower, counts), strict=True) if text in known}
        return Counter({cell: rows for cell, rows in counts.items() if cell not in missing}) if missing else counts

    def in_words(self, cell: str, counts: Mapping[str, int]) -> bool:
        """Return whether a cell of a word column is missing; some marks are words there."""
        text = cell.lower()
        if not cell or text in self.added or self.only:
            return not cell or text in self.added
        is_word = text in own_numbers.WORDS or (cell == "-" and "+" in counts)
        return text in own_numbers.MARKS and not is_word


@dataclass
class ColumnTypes:
    """Type decisions column by column; `notes` lists the conversions of cells, by groups of columns.

    forms : of numbers, the likeliest first; kinds : declared in the file (`rows.KINDS`)"""

    where: str
    reading: Reading
    marks: Marks
    forms: Sequence[Form]
    kinds: Mapping[str, str]
    lines: Sequence[int]
    padded: list[str] = field(default_factory=list)
    codes: list[str] = field(default_factory=list)
    spellings: list[str] = field(default_factory=list)
    grouped: list[str] = field(default_factory=list)

    def column(self, j: int, name: str, cells: Sequence[str], counts: Counter[str]) -> Column:
        """Return the type of column j; DataError for a cell of text among numbers. counts : cell -> rows"""
        r, kind = self.reading, self.kinds.get(name)
        forced = name in r.keep or name in r.features or "*" in r.keep
        if not forced and kind in ("identifier", "ignored"):
            return Column(name, {"ignored": "dropped"}.get(kind, "identifier"))
        if name not in r.qualitative and kind != "levels":
            values = self.marks.among_numbers(counts)
            if values and (column := self._quantity(j, name, cells, values, forced, counts)) is not None:
                return column
        words = Counter({cell: rows for cell, rows in counts.items() if not self.marks.in_words(cell, counts)})
        if not words:
            return Column(name, "empty")
        level_of = own_roles.merged(words)
        levels = Counter[str]()
        for word, level in level_of.items():
            levels[level] += words[word]
        if not forced and name not in r.qualitative:
            if len(levels) == 1 and self._says_nothing(counts, words):
                return Column(name, "constant")
            why = own_roles.words_identify(levels)
            if why and (why == "identifier" or kind != "levels"):
                return Column(name, why)
        return self._levels(name, levels, level_of, forced)

    def of_numbers(self, name: str, cells: NumberCells) -> Column:
        """Return the type of a column of numbers, as `column` does; NeedsTexts if its texts may mean something else:
        whole-number dates, or codes such as 02139."""
        values = cells.values[~np.isnan(cells.values)]
        is_date = cells.integral and values.min() > 19000000 and values.max() < 21010000
        if is_date or (cells.integral and not cells.canonical) or self.forms[0] != Form():
            raise NeedsTexts([name])
        different = np.unique(values)
        if not (name in self.reading.keep or name in self.reading.features or "*" in self.reading.keep):
            if len(different) == 1 and (self.reading.missing != "keep" or not cells.others):
                return Column(name, "constant")
            if own_roles.numbers_identify(different.tolist(), len(values), name):
                return Column(name, "identifier")
        return Column(name, "number").as_number(Form())

    def number_form(self, values: Mapping[str, int], declared: bool = False) -> Form | None:
        """Return the form in which all cells are plain numbers; None if they are codes such as 02139."""
        if not values or (not declared and own_roles.are_padded(values)):
            return None
        return own_numbers.form_of(values, self.forms)

    def _quantity(
        self, j: int, name: str, cells: Sequence[str], values: Counter[str], forced: bool, counts: Mapping[str, int]
    ) -> Column | None:
        """Return the column if it holds numbers or dates."""
        declared = self.kinds.get(name) == "number"
        if not declared and own_dates.whole_number_dates(values):
            return self._date(name, ["yyyymmdd"], forced)
        form = self.number_form(values, declared)
        if form is not None:
            different = sorted(set(own_numbers.numbers_of(values, form)))
            if not forced and len(different) == 1 and self._says_nothing(counts, values):
                return Column(name, "constant")
            if not forced and own_roles.numbers_identify(different, values.total(), name):
                return Column(name, "identifier")
            return Column(name, "number").as_number(form)
        if not declared and own_roles.are_padded(values):
            self.padded.append(quoted(name))
            return None
        if dates := own_dates.date_forms(values):
            return self._date(name, dates, forced)
        mostly = own_numbers.mostly_numbers(values, self.forms)
        if mostly is None or self._are_codes(name, values, mostly, declared):
            return None
        if mostly.odd and own_numbers.NONNUMERIC not in self.marks.added:
            raise DataError(self.odd_cell(j, name, cells, mostly))
        if not forced and len(mostly.numbers) == 1 and self._says_nothing(counts, values):
            return Column(name, "constant")
        return Column(name, "number").as_number(mostly.form)

    def check_numbers(self, j: int, name: str, cells: Sequence[str], counts: Counter[str]) -> None:
        """Raise DataError for a cell that is no number in a regression target."""
        values = self.marks.among_numbers(counts)
        mostly = own_numbers.mostly_numbers(values, self.forms)
        if mostly is not None and mostly.odd and not self._are_codes(name, values, mostly, declared=False):
            raise DataError(self.odd_cell(j, name, cells, mostly))

    def _are_codes(self, name: str, values: Counter[str], mostly: Mostly, declared: bool) -> bool:
        """Return whether a column of numbers and other cells holds codes: A/5 21171 beside 113803, K beside 1, 2 and 3.
        Either most other cells have digits and are a tenth of all cells, or words and numbers are about equally many
        and few."""
        numbers, odd, form = mostly.numbers, mostly.odd, mostly.form
        if not odd or declared:
            return False
        if len(numbers) < SEVERAL:
            return True
        if form.unit or form.written or mostly.units or any(number % 1 for number in numbers):
            return False
        if own_roles.are_padded([cell for cell in values if cell not in odd]):
            self.padded.append(quoted(name))
            return True
        with_digits = sum(rows for cell, rows in odd.items() if any(map(str.isdigit, cell)))
        few = len(numbers) <= own_roles.FEW_CLASSES and 2 * len(odd) >= len(numbers)
        n_odd = sum(odd.values())
        if few or (2 * with_digits > n_odd and 10 * n_odd >= values.total()):
            self.codes.append(f"{quoted(name)} ({quoted(next(iter(odd)))})")
            return True
        return False

    def odd_cell(self, j: int, name: str, cells: Sequence[str], mostly: Mostly) -> str:
        """Return the error message for the first cell that is no number in a number column."""
        row = next(k for k, cell in enumerate(cells) if cell in mostly.odd)
        n_odd = sum(mostly.odd.values())
        more = f" ({n_odd} such cells)" if n_odd > 1 else ""
        at = f"in row {row + 1} (line {self.lines[row]}){more}"
        has = [unit for unit in mostly.units if cell_forms.same_unit(cells[row], unit)]
        if has and len(mostly.units) > 1:
            return (
                f"{self.where}: column {j + 1} ({quoted(name)}) holds numbers in several units, "
                f"{cut_list(list(map(quoted, mostly.units)))}: {quoted(cells[row])} {at} is not in "
                f"{quoted(mostly.units[0])}. Convert the cells to one unit, say --na nonnumeric to take those in other "
                f"units as missing, or --qualitative {as_typed(name)} for levels"
            )
        return (
            f"{self.where}: column {j + 1} ({quoted(name)}) holds numbers, but {quoted(cells[row])} {at}: mend the "
            f"cell, or say --na {as_typed(cells[row])} if it stands for a missing value (--na nonnumeric for every "
            f"cell that is no number). If these are codes, say --qualitative {as_typed(name)}"
        )

    def _says_nothing(self, counts: Mapping[str, int], values: Collection[str]) -> bool:
        """Return whether a column of one value is constant; missing cells make it informative only if they are kept."""
        return self.reading.missing != "keep" or len(counts) == len(values)

    def _levels(self, name: str, levels: Counter[str], level_of: Mapping[str, str], forced: bool) -> Column:
        if others := [word for word, level in level_of.items() if word != level]:
            first = others[0]
            more = f" and {len(others) - 1} more" if len(others) > 1 else ""
            self.spellings.append(f"{quoted(first)} as {quoted(level_of[first])}{more} in {quoted(name)}")
        ordered = sorted(levels, key=label_order)
        if len(ordered) > own_roles.MOST_LEVELS and not forced and self.reading.encoding == "onehot":
            often = own_roles.frequent(levels)
            if not often:
                return Column(name, "text")
            self.grouped.append(f"{quoted(name)} ({len(ordered) - len(often)} of {len(ordered)})")
            ordered = [*sorted(often, key=label_order), OTHER]
        return Column(name, "levels", levels=tuple(ordered))

    def _date(self, name: str, dates: Sequence[str], forced: bool) -> Column:
        wanted, either = self.reading.dates, " or ".join(dates)
        if wanted == "leave_out" and not forced:
            return Column(name, "date", date=dates[0] if len(dates) == 1 else "")
        if wanted in own_dates.DATES:
            if wanted not in dates:
                raise DataError(f"{self.where}: column {quoted(name)} holds dates, {either}, and dates says {wanted}")
            return Column(name, "days", date=wanted)
        if len(dates) > 1:
            raise ConfigError(
                f"{self.where}: the dates of column {quoted(name)} can be {either}: say which with --dates, as "
                f"in --dates {dates[0]}."
            )
        return Column(name, "days", date=dates[0])
