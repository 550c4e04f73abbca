# SPDX-License-Identifier: MIT
"""Pictures of figures, as SVG without scripts, the same bytes for the same figures."""
import sys
import xml.etree.ElementTree

COLOURS = ("#b0b7c0", "#2c7fb8", "#d95f0e", "#31a354", "#756bb1", "#000000")


def bars(name, title, x_title, y_title, labels, series):
    """Groups of bars: `series` holds a name and a value for each of `labels`; None leaves one out. `name`: of the file, without its ending."""
    return picture("Bar", name, title, x_title, y_title, labels, series)


def lines(name, title, x_title, y_title, labels, series):
    """The same as lines."""
    return picture("Line", name, title, x_title, y_title, labels, series)


def of_curves(item):
    """A picture of what line.curves() has made."""
    return lines(item["curves"], item["title"], item["x_title"], item["y_title"], item["labels"], item["series"])


def picture(kind, name, title, x_title, y_title, labels, series):
    return {"picture": name, "title": title, "svg": svg(kind, title, x_title, y_title, labels, series)}


def svg(kind, title, x_title, y_title, labels, series, colours=COLOURS, height=340):
    try:
        import pygal
    except ImportError:
        sys.exit("needs python3-pygal: apt-get install python3-pygal")
    style = pygal.style.Style(background="white", plot_background="white", foreground="#333", colors=colours)
    chart = getattr(pygal, kind)(style=style, title=title, x_title=x_title, y_title=y_title, width=760, height=height, js=(),
                                 no_prefix=True, legend_at_bottom=True, truncate_legend=-1, show_minor_x_labels=True, print_values=False, margin=12, range=(0, None))
    chart.x_labels = [str(label) for label in labels]
    if len(labels) > 20 and kind != "HorizontalBar":
        chart.show_minor_x_labels = False
        chart.x_labels_major = chart.x_labels[::len(labels) // 10]
    for called, values in series:
        chart.add(called, [v if v is None else float(f"{v:.4g}") for v in values])
    xml.etree.ElementTree.register_namespace("", "http://www.w3.org/2000/svg")
    xml.etree.ElementTree.register_namespace("xlink", "http://www.w3.org/1999/xlink")
    root = xml.etree.ElementTree.fromstring(chart.render())
    for parent in root.iter():
        for child in [c for c in parent if c.tag.endswith("}script")]:
            parent.remove(child)
    root.attrib.pop("id", None)
    return xml.etree.ElementTree.tostring(root) + b"\n"


def sideways(title, what, amount, labels, series):
    """Bars from left to right, for labels that are words: the first one on top."""
    return svg("HorizontalBar", title, amount, what, labels[::-1], [(name, values[::-1]) for name, values in series],
               height=150 + len(labels) * (8 + 9 * len(series)))
