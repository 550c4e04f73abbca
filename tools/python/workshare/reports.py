# SPDX-License-Identifier: MIT
"""Reports of jobs (mpirun -workshare-report=FILE.json) as tables: a pandas.DataFrame, or a list of dicts where pandas is missing.

Each function takes one or several files. The column `file` says which report a row is of. Names are those of docs/reference/report.schema.json; what lies
inside of something else there has both names, as `efficiency_parallel`. A column that an old report lacks is None.
"""
import json
import os

SCHEMA = 'workshare-report/'
VERSIONS = (2,)


def read_report(file):
    """The report in that file, as its JSON. ValueError, with the file's name, if it is none or of another version."""
    with open(file, encoding='utf-8') as f:
        try:
            report = json.load(f)
        except ValueError as error:
            raise ValueError(f'{os.fspath(file)}: not JSON: {error}') from None
    schema = report.get('schema') if isinstance(report, dict) else None
    if not isinstance(schema, str) or not schema.startswith(SCHEMA):
        raise ValueError(f'{os.fspath(file)}: not a report of Workshare; mpirun -workshare-report=FILE.json writes one')
    if schema not in [f'{SCHEMA}{version}' for version in VERSIONS]:
        raise ValueError(f'{os.fspath(file)}: a report of version {schema[len(SCHEMA):]}; this reads version {", ".join(map(str, VERSIONS))}')
    return report


def _flat(values, before=''):
    """The numbers and texts of a dict, and of dicts in it."""
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(value, f'{before}{name}_')
        elif not isinstance(value, list):
            yield before + name, value


def _table(files, rows_of, missing=None):
    rows = [{'file': os.fspath(file), **row} for file in files for row in rows_of(read_report(file))]
    columns = list(dict.fromkeys(name for row in rows for name in row)) or ['file']
    rows = [{name: row.get(name, missing) for name in columns} for row in rows]
    try:
        import pandas
    except ImportError:
        return rows
    return pandas.DataFrame(rows, columns=columns)


def _rows(report, name):
    """Rows of one of the report's lists, with `totals` at their own level."""
    for entry in report.get(name) or []:
        entry = {**entry, **entry.get('totals', {})}
        entry.pop('totals', None)
        if 'path' in entry:     # of a phase
            entry['phase'] = '/'.join(entry['path'])
        yield dict(_flat(entry))


def runs(*files):
    """A row per run: the elapsed time, efficiencies, the verdict, and totals over all ranks."""
    def row(report):
        entry = {**report, **report.get('totals', {})}
        entry.pop('totals', None)
        yield dict(_flat(entry))
    return _table(files, row)


def ranks(*files):
    """A row per rank: its time, what it lent and borrowed, and every other counter."""
    return _table(files, lambda report: _rows(report, 'by_rank'))


def loops(*files):
    """A row per shared loop, of all ranks together."""
    return _table(files, lambda report: _rows(report, 'by_loop'))


def phases(*files):
    """A row per phase, of all ranks together."""
    return _table(files, lambda report: _rows(report, 'by_phase'))


def rank_phases(*files):
    """A row per rank and phase, without the phases inside it. Figures that a rank lacks there are 0."""
    def rows(report):
        for rank in report['by_rank']:
            for entry in rank.get('phases') or []:
                yield {'rank': rank['rank'], 'node': rank['node'], **dict(_flat({**entry, 'phase': '/'.join(entry['phase'])}))}
    return _table(files, rows, missing=0)


def calls(*files):
    """A row per MPI function in which ranks waited, and per kind of wait outside of MPI."""
    return _table(files, lambda report: _rows(report, 'by_call'))
