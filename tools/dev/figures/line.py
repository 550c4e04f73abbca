# SPDX-License-Identifier: MIT
"""A line of the table: what was measured, its rival, the figure that is judged, and the target."""
import re

import disturbance
import measure

# Quartiles further apart than this share of the value: others disturbed the runs.
NOISY = 0.1


def median_us(result):
    return result["us"]["median"]


def figure(what, ours, rival, unit, value, target, passed, spread, detail=None, noisy=None):
    """A line of the table; `ours` and `rival` are in `unit`, `value` is what is judged, `spread` its quartiles."""
    return {"figure": what, "ours": ours, "rival": rival, "unit": unit, "value": value, "target": target, "spread": spread,
            "pass": passed, "noisy": spread[1] - spread[0] > NOISY * value if noisy is None else noisy, "detail": detail}


def number(what, values, unit, most, rival, detail=None):
    """A line for a figure that stands by itself, in `unit`: its runs' `values`. `rival`: the same of the rival, shown beside it.
    most = None: there is no target, it is measured."""
    middle, low, high = measure.quartiles(sorted(values))
    if most is None:
        return figure(what, middle, rival, unit, middle, "", None, [low, high], detail, noisy=False)
    return figure(what, middle, rival, unit, middle, f"<= {most:g} {unit}", middle <= most, [low, high], detail, noisy=high - low > most)


def table(title, headers, rows, note=""):
    """Figures that are shown together. A cell is a text, a time ({"us": 3.5}) or a ratio, a plain number; None is left empty."""
    return {"table": title, "headers": headers, "rows": rows, "note": note}


def curves(name, title, x_title, y_title, labels, series):
    """A picture for docs/internals/papers.md: `series` holds a name and a value for each of `labels`; None leaves one out. `name`: of the file, without its ending."""
    return {"curves": name, "title": title, "x_title": x_title, "y_title": y_title, "labels": list(labels), "series": [list(s) for s in series]}


def us(value):
    return {"us": value}


def cell(value):
    if value is None:
        return ""
    if isinstance(value, dict):
        return measure.time_text(value["us"])
    return value if isinstance(value, str) else f"{value:.3f}"


def table_text(t):
    text = t["table"] + "\n\n" + measure.table(t["headers"], [[cell(c) for c in row] for row in t["rows"]])
    return text + ("\n\n" + t["note"] if t["note"] else "")


def compare(what, ours, rivals, read, unit, most, rival_name):
    """Ours over the rival's, run by run; passes when the median ratio is at most `most`.

    most = None: passes within noise, that is when the ratio differs from 1 by less than the runs' own spread."""
    ratio, low, high = measure.ratio_of(ours, rivals, read)
    if most is None:
        noise = noise_of(ours, rivals, read)
        passed, target = ratio <= 1 + noise, f"noise: <= {1 + noise:.3f}"
    else:
        passed, target = ratio <= most, f"<= {most:g}"
    return figure(what, measure.median_of(ours, read), measure.median_of(rivals, read), unit, ratio, target, passed,
                  [low, high], f"rival: {rival_name}")


def faster(what, ours, rivals, read, unit, least, rival_name):
    """The rival's time over ours, run by run; passes when the median ratio is at least `least`. For 1, not slower, within noise."""
    ratio, low, high = measure.ratio_of(rivals, ours, read)
    noise = noise_of(ours, rivals, read) if least == 1 else 0
    return figure(what, measure.median_of(ours, read), measure.median_of(rivals, read), unit, ratio,
                  f"noise: >= {1 - noise:.3f}" if noise else f">= {least:g}", ratio >= least - noise, [low, high], f"rival: {rival_name}")


def spread_of(results, read):
    """Half the distance of the quartiles, relative to the median."""
    middle, low, high = measure.quartiles(sorted(map(read, results)))
    return (high - low) / 2 / middle


def noise_of(ours, rivals, read):
    return max(spread_of(ours, read), spread_of(rivals, read), 0.005)


def difference(what, ours, rivals, read, unit, most, detail=None):
    differences = sorted(read(a) - read(b) for a, b in zip(ours, rivals))
    middle, low, high = measure.quartiles(differences)
    return figure(what, measure.median_of(ours, read), measure.median_of(rivals, read), unit, middle, f"<= {most} {unit}",
                  middle <= most, [low, high], detail, noisy=high - low > most)


def over(what, results, part, ours, rival, most, note):
    """A line for programs that time versions against each other in one process: the runs' medians of the ratio to `rival`."""
    ratios = sorted(r[part]["over"][rival][1] for r in results)
    middle, low, high = measure.quartiles(ratios)
    return figure(what, measure.median_of(results, lambda r: r[part]["us"][ours]), measure.median_of(results, lambda r: r[part]["us"][rival]),
                  "us", middle, f"<= {most:g}", middle <= most, [low, high], note, noisy=high - low > max(0.01, most - 1))


def amount(value, unit):
    if value is None:
        return ""
    scale = {"ns": 1e-3, "us": 1, "ms": 1e3}
    return measure.time_text(value * scale[unit]) if unit in scale else f"{value:.3g} {unit}" if unit == "%" else f"{value:.0f} {unit}"


HEADERS = ["figure", "ours", "rival", "median", "quartiles", "target", ""]


def is_beyond(f):
    """Whether both quartiles lie on one side of the target, so that their distance does not matter."""
    bound = re.search(r"(<=|>=) ([0-9.]+)", f["target"])
    if not bound:
        return False
    meets = [value <= float(bound[2]) if bound[1] == "<=" else value >= float(bound[2]) for value in f["spread"]]
    return meets == [f["pass"]] * 2


def why_not_judged(f):
    """Why a figure with a target is neither a pass nor a miss: others took more of the cores, while its group was measured, than a run may lose
    (`taken`, a share; absent in runs kept before it was measured), or its pairs contradict each other. Empty if it is judged."""
    if f["pass"] is None:
        return ""
    if f.get("taken", 0) > disturbance.LIMIT:
        return f"others took {disturbance.percent(f['taken'])}"
    return "noisy" if f["noisy"] and not is_beyond(f) else ""


def verdict(f):
    if why_not_judged(f):
        return "not judged"
    return {True: "pass", False: "missed", None: "measured"}[f["pass"]]


def row_of(f):
    # Without a target a ratio, too, has only its value to tell by: a figure that stands by itself is that value.
    plain_number = f["target"].endswith((" ms", " us", " ns", " KiB", " %")) or not f["target"] and f["value"] == f["ours"]
    text = (lambda v: f"{v:.1f}") if plain_number else (lambda v: f"{v:.3f}")
    unit = " " + f["unit"] if plain_number else ""
    return [f["figure"], amount(f["ours"], f["unit"]), amount(f["rival"], f["unit"]), text(f["value"]) + unit,
            " .. ".join(map(text, f["spread"])), f["target"], verdict(f) + (f": {why}" if (why := why_not_judged(f)) else "")]
