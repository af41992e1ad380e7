"""The figures of a benchmark as one table, as JSON, and against those of an earlier day."""
from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from importlib import metadata
from pathlib import Path
from typing import Any

from measurement import Figure, Measured
from rich.table import Table
from rich.text import Text

from pyfuncdbg.observers.record.log.program_environment import is_compiled

_LIBRARIES = 'numpy', 'tensorflow', 'tensorflow-cpu', 'torch', 'jax', 'PySnooper'
_MARKS = {True: ('met', 'green'), False: ('missed', 'red'), None: ('', '')}


def machine() -> dict[str, Any]:
    """Where and when: system, CPUs, their load, versions."""
    versions = {}
    for name in _LIBRARIES:
        try:
            versions[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return {'date': time.strftime('%Y-%m-%d %H:%M UTC', time.gmtime()), 'python': platform.python_version(),
            'system': f'{platform.system()} {platform.machine()}', 'processor': _processor(), 'compiled': is_compiled(),
            'cpus': len(os.sched_getaffinity(0)),
            'load': round(os.getloadavg()[0], 1), 'versions': versions}


def _processor() -> str:
    """Its name; where the system keeps none, nothing."""
    try:
        described = Path('/proc/cpuinfo').read_text(encoding='utf-8', errors='replace')
    except OSError:
        return platform.processor()
    return next((line.partition(':')[2].strip() for line in described.splitlines() if line.startswith('model name')), '')


def results_table(groups: Mapping[str, Iterable[Measured]], where: Mapping[str, Any],
                  earlier: Mapping[str, Measured] | None = None) -> Table:
    """All rows in one table.

    Args:
        groups: Rows by the script that has measured them.
        where: As `machine`.
        earlier: Rows of an earlier JSON by name, to compare with.

    Returns:
        The table.
    """
    libraries = ', '.join(f'{name} {version}' for name, version in where['versions'].items())
    table = Table(title=f'{where["date"]}, {where["system"]}, {where["cpus"]} CPUs ({where["processor"]}), '
                        f'load {where["load"]}, {"" if where["compiled"] else "not "}compiled, '
                        f'Python {where["python"]}, {libraries}', title_justify='left')
    table.add_column('what', overflow='fold', min_width=20)
    for name in ('µs', 'peer', 'its µs', 'compared', 'target', ''):
        table.add_column(name, justify='right' if 'µs' in name else 'left', overflow='fold')
    if earlier is not None:
        table.add_column('earlier')
    for group, rows in groups.items():
        table.add_section()
        table.add_row(Text(group, style='bold'))
        for row in rows:
            noise = row.met is None and row.compared is not None and row.target
            mark, style = ('noise', 'dim') if noise else _MARKS[row.met]
            cells = [Text(f'  {row.name}, per {row.per}'), _time(row.ours), row.against or '-', _time(row.peer),
                     compared(row.kind, row.compared), row.target, Text(mark, style=style)]
            if earlier is not None:
                cells.append(_since(row, earlier.get(row.name)))
            table.add_row(*cells)
    return table


def _time(figure: Figure | None) -> str:
    return '-' if figure is None else f'{_short(figure.median)} {_spread(figure)}'


def _short(number: float) -> str:
    return f'{number:,.0f}' if abs(number) >= 100 else f'{number:.3g}'


def _spread(figure: Figure) -> str:
    """Half of what lies between the quartiles, in parts of the median."""
    return f'±{abs(figure.high - figure.low) / 2 / abs(figure.median or 1):.0%}'


def compared(kind: str, figure: Figure | None) -> str:
    """A comparison as text: '15.2x faster ±3%'."""
    if figure is None:
        return '-'
    if kind == 'adds':
        return f'{figure.median:+.3g} µs, {figure.low:+.3g} to {figure.high:+.3g}'
    return {'faster': '{}x faster {}', 'time': '{}x the time {}', 'takes': '{} µs {}'}[kind].format(
        _short(figure.median), _spread(figure))


def _since(row: Measured, before: Measured | None) -> str:
    """How a row has changed: by its comparison with the peer, for that is of one run."""
    if before is None or before.compared is None or row.compared is None or before.kind != row.kind:
        return 'new' if before is None else '-'
    apart = row.compared.low > before.compared.high or row.compared.high < before.compared.low
    return f'{compared(row.kind, before.compared)}{", changed" if apart else ""}'


def write_json(path: Path, where: Mapping[str, Any], groups: Mapping[str, Iterable[Measured]],
               curves: list[dict[str, Any]]) -> None:
    """Write the figures; `read_json` reads them."""
    content = {'machine': where, 'rows': {group: [asdict(row) for row in rows] for group, rows in groups.items()},
               'curves': curves}
    path.write_text(json.dumps(content, indent=1, ensure_ascii=False) + '\n', encoding='utf-8')


def read_json(path: Path) -> dict[str, Measured]:
    """The rows of an earlier JSON, by name.

    Raises:
        SystemExit: The file is missing or holds something else.
    """
    try:
        content = json.loads(path.read_text(encoding='utf-8'))
        return {row['name']: measured_from(row) for rows in content['rows'].values() for row in rows}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        sys.exit(f'--against {path}: no figures of an earlier run ({type(error).__name__}: {error})')


def measured_from(row: Mapping[str, Any]) -> Measured:
    """A row from plain data."""
    figures = {name: Figure(**row[name]) if row[name] is not None else None for name in ('ours', 'peer', 'compared')}
    return Measured(**{**row, **figures})
