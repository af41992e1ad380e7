"""Traces of earlier versions open for ever: each folder in `formats/` still gives what it gave when it was written.

`formats/train.py` is the program that recorded them; `python tests/observers/record/test_formats.py` prints what a trace
gives.
"""
from __future__ import annotations

import json
import shutil
import sys
from collections.abc import Iterable
from dataclasses import astuple
from pathlib import Path
from typing import Any

import msgpack
import numpy as np
import pytest
from plain_host import HOST, new_run

from pyfuncdbg.errors import DroppedError
from pyfuncdbg.hooks.call import CallSite, new_call
from pyfuncdbg.observers.record.index.decode import site_record
from pyfuncdbg.observers.record.log.call_batch import RETRY, Batch, decode_msgpack, summary_of
from pyfuncdbg.observers.record.log.call_encoder import encode
from pyfuncdbg.observers.record.log.queued_call import queued_call
from pyfuncdbg.observers.record.records import ErrorRecord, OutputRecord, SiteRecord, TensorRecord
from pyfuncdbg.observers.record.trace import Trace

FOLDER = Path(__file__).parent / 'formats'


def _tensor(tensor: TensorRecord) -> list[object]:
    try:
        value = tensor.to_numpy()
        content = repr(value.tolist()) if value.size < 100 else f'{value.size} elements that sum to {value.sum()}'
    except DroppedError as error:
        content = str(error)
    return [tensor.name, tensor.dtype, list(tensor.shape), tensor.nbytes, tensor.level, tensor.changed, tensor.note, content,
            str(tensor.stats)]


def _error(error: ErrorRecord | None) -> list[object] | None:
    if error is None:
        return None
    variables = [[held.frame, [[v.name, v.type, v.text, _tensor(v.tensor) if v.tensor else None] for v in held.variables]]
                 for held in error.locals]
    return [error.type, error.message, [list(frame[:3]) for frame in error.frames], error.traceback, variables]


def _site(site: SiteRecord) -> list[object]:
    return [site.id, site.process, site.name, site.op_type, site.kind, site.host, site.function, site.filename, site.line,
            site.source, [list(frame[:3]) for frame in site.stack], site.inputs, site.outputs, repr(sorted(site.attrs))]


def _lines(record: SiteRecord | ErrorRecord | OutputRecord, places: Iterable[tuple[str, int]]) -> list[list[object]]:
    """What a record knows of the text of its lines; no file that it names is on any machine."""
    return [[filename, line, *astuple(record.source_at(filename, line))] for filename, line in places if line]


def contents(path: Path) -> dict[str, object]:
    """Everything that a trace tells, without what depends on the reader's machine."""
    with Trace.open(path) as trace:
        info = trace.info()
        calls = [call for kind in (None, 'run') for call in trace.calls(kind=kind)]
        return json.loads(json.dumps({
            'info': [info.version, info.argv, info.python, info.host_name, info.started, info.duration, info.processes,
                     info.runs, info.calls, info.sites, info.nbytes, info.dropped, info.damage, info.complete, info.ops],
            'sites': [_site(site) for site in trace.sites()],
            'plans': [[plan.process, plan.label, plan.feeds, plan.fetches, plan.sites, plan.runs] for plan in trace.plans()],
            'kinds': [[plan.label, plan.kind] for plan in trace.plans()],
            'not runs': [info.passes, info.elements, info.inner],
            'calls': [[call.number, call.run, call.label, call.site.kind, call.thread, call.started, call.duration,
                       [_tensor(tensor) for tensor in call.inputs], [_tensor(tensor) for tensor in call.outputs],
                       [[said.kind, said.text, said.category, said.filename, said.line, said.function, said.offset]
                        for said in call.output],
                       _error(call.error), call.forward, call.parent, call.dropped, call.sources] for call in calls],
            'lines': [*(_lines(site, [(site.filename, site.line), *(frame[:2] for frame in site.stack)]) for site in
                        trace.sites()),
                      *(_lines(call.error, (frame[:2] for frame in call.error.frames)) for call in calls if call.error),
                      *(_lines(said, [(said.filename, said.line)]) for call in calls for said in call.output)],
            'edges': [[edge.run, edge.gradient, edge.forward, edge.sources] for edge in trace.edges()],
            'notes': [[note.kind, note.process, note.at, note.data] for note in trace.notes()]}))


@pytest.mark.parametrize('version', [2, 3, 4, 5, 6, 7, 8])
def test_a_trace_of_each_version_gives_what_it_gave(version, tmp_path):
    path = tmp_path / 'old.pfd'                 # a copy: reading must not depend on where it lies
    shutil.copytree(FOLDER / f'version-{version}.pfd', path)
    found = contents(path)
    expected = json.loads((FOLDER / f'version-{version}.json').read_text())
    assert len(found['calls']) > 10 and len(found['edges']) > 2
    for part, held in expected.items():
        assert found[part] == held, part


def _fields(name: str, op_type: str, kind: str, host: str, attrs: dict[str, Any]) -> list[Any]:
    return [1, name, op_type, kind, host, '', '', 0, '', [], [], [], attrs]


@pytest.mark.parametrize(('fields', 'traits'), [
    (_fields('f_grad', 'EagerPyFunc', 'gradient', 'pyfuncdbg', {}), ['wraps_python']),
    (_fields('f_grad', 'EagerPyFunc', 'gradient', 'other', {}), ['wraps_python']),
    (_fields('mm_grad', 'MatMul', 'gradient', 'other', {}), ['foreign']),
    (_fields('mm_grad', 'MatMul', 'gradient', 'pyfuncdbg', {}), []),
    (_fields('f', 'EagerPyFunc', 'python', 'pyfuncdbg', {}), []),
    (_fields('cond', 'If', 'op', 'pyfuncdbg', {}), ['runs_graph']),
    (_fields('GradientTape.gradient', 'GradientTape', 'run', 'pyfuncdbg', {}), ['backward_pass']),
    (_fields('__backward_f_17', 'function', 'run', 'other', {}), ['backward_pass']),
    (_fields('Session.partial_run', 'Session.partial_run', 'run', 'pyfuncdbg', {}), ['fed_run']),
    (_fields('cond', 'If', 'op', 'pyfuncdbg', {'_traits': []}), []),
    (_fields('of a later version', 'If', 'op', 'pyfuncdbg', {'_traits': ['foreign', 'unheard_of']}), ['foreign']),
])
def test_sites_without_traits_have_those_of_their_op_type(fields: list[Any], traits: list[str]) -> None:
    site = site_record(fields, 1)
    assert site.traits.names == traits
    assert site.attrs == {}


@pytest.mark.parametrize('wrong', [3, 'foreign', [1], [['foreign']]])
def test_wrong_traits_are_damage(wrong: object) -> None:
    with pytest.raises(ValueError, match='expected'):
        site_record(_fields('f', 'If', 'op', 'pyfuncdbg', {'_traits': wrong}), 1)


def test_an_old_trace_knows_its_steps_of_python_functions() -> None:
    with Trace.open(FOLDER / 'version-3.pfd') as trace:
        found = {site.name: site.traits.names for site in trace.sites() if site.kind in ('gradient', 'run')}
    assert found == {'EagerPyFunc_grad': ['wraps_python'], 'Sum_grad': [], 'mul_grad': [], 'Session.run': ['fed_run'],
                     'GradientTape.gradient': ['backward_pass']}


def test_only_records_with_retries_have_a_field_of_them() -> None:
    """So that a reader from before there was one opens every trace in which nobody retried a call."""
    site, run = CallSite('f', 'PyFunc', 'python', HOST), new_run()
    calls = [queued_call(new_call(site, run, [], 7, 10 * i), (np.float32(i),), (), 10 * i + 5, 0, False) for i in (1, 2, 3)]
    store: Any = None                           # scalars need none
    plain = encode(calls, store)
    calls[1].broken_off, calls[2].retry_of = True, 2
    retried = encode(calls, store)
    assert [len(decode_msgpack(payload)) for payload in (plain, retried)] == [13, 14]
    assert Batch(plain).retries == {} and Batch(retried).retries == {1: [0, True], 2: [2, False]}
    for payload, flags in ((plain, [0, 0, 0]), (retried, [0, 0, RETRY])):
        assert list(summary_of(payload, lambda entry: False).flags) == flags
    fields = decode_msgpack(retried)
    for wrong in (3, [[5, [1, True]]], [['x', 1]]):
        with pytest.raises(ValueError, match='row'):
            Batch(msgpack.packb([*fields[:13], wrong]))


if __name__ == '__main__':
    json.dump(contents(Path(sys.argv[1])), sys.stdout, indent=0)
