# SPDX-License-Identifier: MIT
"""The ten pictures of docs/about/results.md, made of the tables of a kept run: each picture is a list of bars, and a row of one table is a group of them."""
from typing import Any, NamedTuple

import measure


class Chart(NamedTuple):
    name: str       # of the file, without its ending
    title: str
    table: str      # how the title of its table begins
    x: tuple        # the columns that name a group of bars
    x_title: str
    y_title: str
    bars: dict      # a bar's name: a column, or a function of the row
    rows: Any = lambda row: True    # which rows
    says: str = ""  # below the picture


def over(one, other):
    """A function of the row: how many times as long `one` takes as `other`, two columns of times."""
    return lambda row: row[one]["us"] / row[other]["us"] if row.get(one) and row.get(other) else None


def percent(column):
    return lambda row: float(row[column].rstrip(" %")) if row[column] else None


SLEEPING = "sleeping work"
CHARTS = (
    Chart("programs", "Programs: how many times as fast as plain MPI", "Programs: how many times", ("program",), "program", "times as fast",
          {"plain": lambda row: 1.0, "ws for": "-workshare", "OpenMP dynamic": "OpenMP dynamic", "OpenMP guided": "guided",
           "possible": "possible"},
          says="Two ranks on two cores, without and with `-workshare`; OpenMP: two threads of one process. Possible: what the ranks' own times allow."),
    Chart("double", "Double loop: time over the perfect half", "Double loop: lengths", ("work",), "work of the whole loop", "time / perfect",
          {"plain": over("plain", "perfect"), "ws for": "workshare / perfect", "OpenMP dynamic": "libgomp dynamic / perfect",
           "OpenMP guided": "libgomp guided / perfect", "cut by hand": "limit / perfect"},
          rows=lambda row: row["work"] != "20us",
          says="OpenMP: two threads of one process, libgomp. Cut by hand: equal work for both ranks, and half of a bare hand-over of a core."),
    Chart("tails", "One rank has a loop of 20 ms: time over the limit", "Tails", ("cost, iterations",), "course of the cost, iterations", "time / limit",
          {"ws for": "workshare / limit", "OpenMP dynamic": "libgomp dynamic / limit"},
          says="The limit is the perfect half, or what whole iterations in rising order allow."),
    Chart("unmodified", "Unmodified double loop: time over the perfect half", "Unmodified double loop", ("work", "library", "schedule"),
          "work, library, schedule", "time / perfect half",
          {"plain": "plain", "unmodified": "unmodified", "ws for": "ws for", "OpenMP": "one process"}, rows=lambda row: row["plain"],
          says="The OpenMP binary with `-workshare-openmp`, beside the same loop as `ws for` and OpenMP with two threads."),
    Chart("codes", "Unmodified codes: how many times as fast as one thread per rank", "Unmodified codes", ("program", "library"), "program, library", "times as fast",
          {"unmodified": over("plain", "helped"), "ws for": over("plain", "ws for"), "OpenMP": over("plain", "one process")}),
    Chart("crowd", "Beside other processes on the same cores", "Beside others", ("loop", "beside"), "loop, beside", "plain / workshare",
          {"ws for": "plain / workshare"}, says="Below 1 a rank is slower than without `-workshare`."),
    Chart("workers", f"Ranks x workers on 16 pretended cores, {SLEEPING}: time over perfect", "Ranks x workers", ("layout",), "layout", "time / perfect",
          {"time": "/ perfect"}),
    Chart("processors", f"Zones on 16 pretended cores, {SLEEPING}: how many times as fast", "Zones on 16", ("ranks, zones",), "ranks, zones", "times as fast",
          {"balance": "auto", "best fixed deal": "best deal of processors"}),
    Chart("reorder", "Rank reordering: how many times as fast as the worst order", "Rank reordering", ("program", "order"), "program, order", "times as fast",
          {"predicted": "predicted", "measured": "measured"}, rows=lambda row: row["order"] in ("heuristic", "best"),
          says="Programs with sleeping work say so; the others compute on two cores."),
    Chart("rows", f"XMPI on processors of four classes, {SLEEPING}: time saved", "Processors of the paper's four classes", ("program", "processes"),
          "program, processes", "% of the time",
          {"saved": percent("saved"), "possible": percent("possible"), "the paper's": percent("paper: saved")}),
)


def value(row, what):
    return what(row) if callable(what) else row.get(what)


def drawn(chart, tables):
    """Labels and series of a picture, or None if the run has no such table."""
    for table in tables:
        if table["table"].startswith(chart.table):
            rows = [row for row in (dict(zip(table["headers"], cells)) for cells in table["rows"]) if chart.rows(row)]
            return [", ".join(row[column] for column in chart.x) for row in rows], [(name, [value(row, what) for row in rows]) for name, what in chart.bars.items()]
    return None


def text_of(labels, series):
    """The same numbers as a table, for those who cannot see the picture."""
    return measure.table(["", *(name for name, _ in series)], [[label, *("" if values[i] is None else f"{values[i]:.3g}" for _, values in series)] for i, label in enumerate(labels)])
