"""All benchmarks: `python -m tests.benchmarks [WORD ...]`, from the root of the repository.

Measures ours and each installed peer in turn, each script in a process of its own, and prints one table. Asserts nothing:
these machines are shared. Words select rows whose name or script has one of them; the whole name of a script starts no
other one. The exit code is 1 if a script failed or the two sides of a row gave different values.
"""
from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER))

from benchmark_report import machine, measured_from, read_json, results_table, write_json  # noqa: E402
from cost_curves import draw, measured_curve  # noqa: E402
from measurement import DifferentValuesError, Measured, measure  # noqa: E402
from rich.console import Console  # noqa: E402

SCRIPTS = {'bench_start': '', 'bench_runtime': '', 'bench_record': '', 'bench_watching': '', 'bench_session': '',
           'bench_breakpoints': '', 'bench_lines': '', 'bench_line_tracer': '', 'bench_flight': '', 'bench_live': 'pexpect',
           'bench_tensorflow': 'tensorflow', 'bench_torch': 'torch', 'bench_jax': 'jax'}
"""The scripts, and the package that each cannot do without."""


_WIDTH = 170
"""Of the table in a file."""


def main() -> None:
    """Measure and show."""
    options = _options()
    earlier = read_json(options.against) if options.against is not None else None
    console = Console(width=None if sys.stdout.isatty() else _WIDTH)
    groups: dict[str, list[Measured]] = {}
    curves: list[dict[str, Any]] = []
    where = machine()
    named = {word for word in options.words if word in SCRIPTS}
    options.words = [word for word in options.words if word not in SCRIPTS]
    failed = False
    for script, needed in SCRIPTS.items():
        if named and script not in named:
            continue
        if needed and importlib.util.find_spec(needed) is None:
            console.print(f'{script}: left out, {needed} is not installed', style='dim')
            continue
        for kind, content in _inside(script, options):
            if kind == 'row':
                groups.setdefault(script, []).append(measured_from(content))
                console.print(f'{script}: {content["name"]}', style='dim', highlight=False)
            elif kind == 'curve':
                curves.append(content)
            else:
                failed = True
                console.print(f'{script}: {content}', style='red', highlight=False, markup=False)
    if not groups and not curves and not failed:
        looked_for = f'no row has {" or ".join(map(repr, options.words))} in its name' if options.words else 'no row'
        sys.exit(f'nothing measured: {looked_for}; scripts: {", ".join(SCRIPTS)}')
    console.print(results_table(groups, where, earlier))
    if options.json is not None:
        write_json(options.json, where, groups, curves)
    if options.svg is not None and curves:
        draw(curves, options.svg)
    for remark in () if failed else _remarks(options, groups, curves):
        console.print(remark, style='yellow', markup=False, highlight=False, soft_wrap=True)
    sys.exit(failed)


def _remarks(options: argparse.Namespace, groups: dict[str, list[Measured]], curves: list[dict[str, Any]]) -> Iterator[str]:
    """What was asked for and is not there."""
    if options.svg is not None and not curves:
        yield f'--svg: none of these rows is measured against N; {options.svg} is not written'
    names = [f'{script} {row.name}'.lower() for script, rows in groups.items() for row in rows]
    names += [curve['name'].lower() for curve in curves]
    for word in options.words:
        if not any(word.lower() in name for name in names):
            yield f'no row has {word!r} in its name'


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog='python -m tests.benchmarks', description=__doc__)
    parser.add_argument('words', nargs='*', metavar='WORD',
                        help='rows whose name or script has one of these words; scripts of these names')
    parser.add_argument('--json', type=Path, metavar='FILE', help='write the figures')
    parser.add_argument('--svg', type=Path, metavar='FILE', help='draw cost against N: ops, size, calls in a trace')
    parser.add_argument('--against', type=Path, metavar='FILE', help='compare with the JSON of an earlier run')
    parser.add_argument('--inside', metavar='SCRIPT', help=argparse.SUPPRESS)
    parser.add_argument('--curves', action='store_true', help=argparse.SUPPRESS)
    options = parser.parse_intermixed_args()           # words may follow options
    if options.inside:
        _measure_script(options.inside, options.words, options.curves)
        sys.exit()
    for option, file in (('--json', options.json), ('--svg', options.svg)):
        # Before anything is measured: it takes minutes.
        if file is not None and not _is_writable(file):
            parser.error(f'{option} {file}: cannot be written there; give a file in a folder that exists')
    if options.svg is not None and importlib.util.find_spec('matplotlib') is None:
        parser.error('--svg needs matplotlib, which is not installed: pip install matplotlib')
    return options


def _is_writable(file: Path) -> bool:
    """Whether a file can be written, by opening it: root may do so in folders that refuse it, and not where it seems to."""
    is_new = not file.exists()
    try:
        file.open('a').close()
    except OSError:
        return False
    if is_new:
        file.unlink()
    return True


def _inside(script: str, options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    """What a script measures, in a process of its own: lines of JSON on a pipe, for frameworks print on all else."""
    read, write = os.pipe()
    environment = {**os.environ, 'BENCHMARK_PIPE': str(write), 'TF_CPP_MIN_LOG_LEVEL': '3', 'CUDA_VISIBLE_DEVICES': '',
                   'OPENBLAS_NUM_THREADS': '1', 'PYTHONPATH': os.pathsep.join(
                       filter(None, (str(FOLDER.parents[1]), os.environ.get('PYTHONPATH'))))}
    with tempfile.TemporaryFile('w+') as printed:
        child = subprocess.Popen(
            [sys.executable, '-m', 'tests.benchmarks', '--inside', script, *['--curves'] * (options.svg is not None),
             '--', *options.words], cwd=FOLDER.parents[1], env=environment, pass_fds=[write], stdout=printed, stderr=printed)
        os.close(write)
        with open(read, encoding='utf-8') as lines:
            for line in lines:
                kind, content = json.loads(line)
                yield kind, content
        if child.wait():
            printed.seek(0)
            yield 'failed', f'ended with exit code {child.returncode}\n{printed.read()[-2000:]}'


def _measure_script(script: str, words: list[str], with_curves: bool) -> None:
    module = importlib.import_module(script)

    def wanted(name: str) -> bool:
        return not words or any(word.lower() in f'{script} {name}'.lower() for word in words)

    with open(int(os.environ.pop('BENCHMARK_PIPE')), 'w', encoding='utf-8') as pipe, tempfile.TemporaryDirectory() as place:
        def tell(kind: str, content: Any) -> None:
            print(json.dumps([kind, content]), file=pipe, flush=True)

        for row in module.rows(Path(place)):
            if wanted(row.name):
                try:
                    tell('row', asdict(measure(row)))
                except DifferentValuesError as error:
                    tell('failed', str(error))
        for curve in getattr(module, 'curves', lambda place: ())(Path(place)) if with_curves else ():
            if wanted(curve.name):
                tell('curve', {'name': curve.name, 'axis': curve.axis, 'per': curve.row(curve.sizes[0]).per,
                               'points': list(measured_curve(curve))})


if __name__ == '__main__':
    main()
