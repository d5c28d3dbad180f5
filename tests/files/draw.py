"""Draws `plain.csv` and `wild.csv`, the two tables of a user's own that tests and documents use.

`python tests/files/draw.py` writes both beside this file. The seeds are fixed; a future numpy may draw other numbers,
so the files themselves are what counts.
"""

import csv
import datetime
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FIRST = ("Anna", "Björn", "Chloé", "Dörte", "Émile", "Fatma", "Güler", "Hans", "Inès", "Jürgen", "Kaja", "Łukasz")
LAST = ("Müller", "Nowak", "Öztürk", "Peña", "Quast", "Größl", "Schäfer", "Thúy", "Urbańska", "Voß", "Weiß", "Zöllner")


def plain() -> None:
    """Three varieties of wheat, told apart by slimness and by weight for their size, so good splits are oblique."""
    rng = np.random.default_rng(20260101)
    rows = []
    for variety, ratio, density in (("amber", 1.92, 1.00), ("durum", 2.14, 1.05), ("spelt", 2.08, 0.93)):
        for _ in range(80):
            width = rng.normal(3.2, 0.35)
            length = width * rng.normal(ratio, 0.06)
            thickness = width * rng.normal(0.87, 0.04)
            weight = 0.62 * density * length * width * thickness * rng.normal(1, 0.025)
            protein, moisture = rng.normal(12.5, 1.3), rng.normal(13.8, 0.6)
            numbers = (length, width, thickness, weight, protein, moisture)
            rows.append([*(f"{number:.2f}" for number in numbers), variety])
    rng.shuffle(rows)
    header = ["length_mm", "width_mm", "thickness_mm", "weight_mg", "protein_pct", "moisture_pct", "variety"]
    with open(HERE / "plain.csv", "w", encoding="utf-8", newline="") as stream:
        csv.writer(stream, lineterminator="\n").writerows([header, *rows])


def german(number: float, digits: int, thousands: bool = False) -> str:
    """A number with a decimal comma, and points between thousands if asked for."""
    text = f"{number:{',' if thousands else ''}.{digits}f}"
    return text.replace(",", " ").replace(".", ",").replace(" ", ".")


def wild() -> None:
    """A clinic's table: id and name, a date, decimal commas, points between thousands, gaps, words, umlauts.

    The finding follows the body mass (a ratio, so oblique in height and weight), the glucose and the ward.
    """
    rng = np.random.default_rng(20260102)
    rows = []
    for i in range(320):
        height, weight = rng.normal(171, 9), rng.normal(78, 14)
        glucose, platelets = rng.normal(96, 16), rng.normal(2500, 600)
        ward = str(rng.choice(["Innere", "Chirurgie", "Kardiologie", "Pädiatrie"]))
        smoker = str(rng.choice(["ja", "nein"], p=[0.3, 0.7]))
        risk = weight - 0.9 * height + 76 + 0.9 * (glucose - 96) + 9 * (smoker == "ja") + rng.normal(0, 6)
        finding = "unauffällig" if risk < 4 else "grenzwertig" if risk < 22 else "auffällig"
        admitted = datetime.date(2024, 1, 8) + datetime.timedelta(days=int(rng.integers(0, 500)))
        cells = [
            german(height, 1),
            german(weight, 1),
            german(glucose, 1),
            german(platelets, 1, thousands=True),
            ward,
            smoker,
        ]
        # One mark a column, as when several people keep one table.
        for j, (share, mark) in enumerate(((0.02, ""), (0.04, "NA"), (0.03, "-"), (0.02, ""), (0.03, "?"), (0, ""))):
            if rng.random() < share:
                cells[j] = mark
        name = f"{rng.choice(LAST)}, {rng.choice(FIRST)} {i % 7 + 1}{chr(97 + i % 26)}"
        rows.append([f"P-{10417 + 3 * i}", name, admitted.strftime("%d.%m.%Y"), *cells, finding])
    header = [
        "Patient", "Name", "Aufnahme", "Größe (cm)", "Gewicht (kg)", "Glukose (mg/dl)", "Thrombozyten (10²/µl)",
        "Station", "Raucher", "Befund",
    ]  # fmt: skip
    with open(HERE / "wild.csv", "w", encoding="utf-8-sig", newline="") as stream:
        csv.writer(stream, delimiter=";", lineterminator="\r\n").writerows([header, *rows])


if __name__ == "__main__":
    plain()
    wild()
