# SPDX-License-Identifier: MIT
"""What programs write as JSON, against the schemas in docs/reference/: docs/reference/NAME.schema.json describes `"schema": "workshare-NAME/..."`."""
import functools
import importlib.util
import json
import pathlib
import sys

# Why nothing was compared, or empty. A test that calls problems() then ends as skipped.
MISSING = '' if importlib.util.find_spec('jsonschema') else f'{sys.executable} has no jsonschema (Debian: python3-jsonschema): no output was compared with its schema'


def strict(schema):
    """The same, with no field that it does not describe."""
    if isinstance(schema, list):
        return [strict(s) for s in schema]
    if not isinstance(schema, dict):
        return schema
    changed = {k: strict(v) for k, v in schema.items()}
    if 'properties' in schema and schema.get('type') == 'object':
        changed['additionalProperties'] = False
    return changed


@functools.lru_cache(maxsize=None)
def validator(name):
    import jsonschema   # here, as it takes a fifth of a second
    path = pathlib.Path(__file__).resolve().parent.parent / f'docs/reference/{name}.schema.json'
    return jsonschema.Draft202012Validator(strict(json.loads(path.read_text())))


def problems(name, value):
    """How a value differs from its schema, as lines."""
    if MISSING:
        return []
    return [f'{"/".join(map(str, e.absolute_path))}: {e.message}' for e in validator(name).iter_errors(value)]
