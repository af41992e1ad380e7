"""Spans, parsed by the messages of OpenTelemetry's own schema: nesting, times, exceptions, links."""
from __future__ import annotations

import base64
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from google.protobuf import json_format

import pyfuncdbg
from pyfuncdbg import tf
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.exports import otel_spans

schema = pytest.importorskip('opentelemetry.proto.trace.v1.trace_pb2', reason='needs opentelemetry-proto')


def half(x):
    print('halved')
    return x / 2


def outer(x):
    return tf.numpy_function(half, [x], tf.float32, name='inner').numpy() + 1


def fail(x):
    raise ValueError('no luck')


@pytest.fixture(scope='module')
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp('otel') / 'it.pfd'
    with pyfuncdbg.record(path):
        tf.numpy_function(outer, [np.ones(2, np.float32)], tf.float32, name='outer')
        with pytest.raises(ValueError, match='luck'):
            tf.numpy_function(fail, [np.float32(1)], tf.float32, name='fail\ud800')
        with tf.Graph().as_default(), tf.compat.v1.Session() as session:
            session.run(tf.numpy_function(half, [tf.constant(4.)], tf.float32, name='graph'))
        with tf.GradientTape() as tape:
            x = tf.constant(3.0)
            tape.watch(x)
            y = tf.py_function(lambda v: v * v, [x], tf.float32, name='square')
        assert tape.gradient(y, x).numpy() == 6
    return path


def lines_of(path: Path, file: Path, call: str = '') -> list[str]:
    with Trace.open(path) as trace:
        execute(f'export otel {call} -o {file}', Context(trace))
    return file.read_text(encoding='utf-8').splitlines()


def spans_of(lines: list[str]) -> list[Any]:
    """The spans, by the schema: nothing unknown is skipped. OTLP has ids in hexadecimal, protobuf's JSON in base64."""
    def in_base64(match: re.Match[str]) -> str:
        return f'"{match[1]}": "{base64.b64encode(bytes.fromhex(match[2])).decode()}"'
    found = []
    for line in lines:
        text = re.sub(r'"(traceId|spanId|parentSpanId)": "([0-9a-f]*)"', in_base64, line)
        data = json_format.Parse(text, schema.TracesData())
        for resource in data.resource_spans:
            assert {one.key for one in resource.resource.attributes} >= {'service.name', 'host.name', 'process.pid'}
            found += [span for scope in resource.scope_spans for span in scope.spans]
    return found


def text_of(span: Any, key: str) -> str:
    return next(one.value.string_value for one in span.attributes if one.key == key)


def test_spans_nest_as_calls_runs_and_the_program_did(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(otel_spans, '_LINE', 3)
    lines = lines_of(path, tmp_path / 'a.jsonl')
    spans = spans_of(lines)
    with Trace.open(path) as trace:
        calls, started = trace.calls(), trace.info().started
        runs = [run for run in trace.runs() if run.kind != 'eager']
    assert len(lines) > 2 and len(spans) == len(calls) + len(runs) + 1
    by_id = {span.span_id: span for span in spans}
    assert len(by_id) == len(spans) and {len(span.trace_id) for span in spans} == {16} and {*map(len, by_id)} == {8}
    parents = {span.name: by_id[span.parent_span_id].name for span in spans if span.parent_span_id}
    assert len(parents) == len(spans) - 1
    root, = (span for span in spans if not span.parent_span_id)
    assert parents['inner[0]'] == 'outer[0]' and parents['outer[0]'] == root.name
    assert parents['graph[0]'].startswith('Session.run #') and parents[parents['graph[0]']] == root.name
    inner, outer = (next(span for span in spans if span.name == name) for name in ('inner[0]', 'outer[0]'))
    call = next(call for call in calls if call.site.name == 'inner')
    assert inner.start_time_unix_nano == pytest.approx((started + call.started) * 1e9, abs=2e3)
    assert inner.end_time_unix_nano - inner.start_time_unix_nano == pytest.approx(call.duration * 1e9, abs=2)
    assert outer.start_time_unix_nano <= inner.start_time_unix_nano
    assert [event.name for event in inner.events] == ['out']
    assert inner.events[0].attributes[0].value.string_value == 'halved\n'
    assert text_of(inner, 'code.function.name') == 'half' and text_of(inner, 'code.file.path') == __file__
    linked = {span.name: by_id[span.links[0].span_id].name for span in spans if span.links}
    assert linked == {call.label: forward.label for call in calls for forward in calls if forward.number == call.forward}
    assert 'square[0]' in linked.values()


def test_an_exception_is_an_event_and_the_status(path: Path, tmp_path: Path) -> None:
    failed, = (span for span in spans_of(lines_of(path, tmp_path / 'a.jsonl')) if span.name.startswith('fail'))
    assert failed.status.code == schema.Status.STATUS_CODE_ERROR and failed.status.message == 'ValueError: no luck'
    event, = failed.events
    assert event.name == 'exception' and event.time_unix_nano == failed.end_time_unix_nano
    said = {one.key: one.value.string_value for one in event.attributes}
    assert said['exception.type'] == 'ValueError' and said['exception.stacktrace'].startswith('Traceback')


def test_ids_are_those_of_the_trace(path: Path, tmp_path: Path) -> None:
    first, second = (lines_of(path, tmp_path / name) for name in ('a.jsonl', 'b.jsonl'))
    assert first == second
    with Trace.open(path) as trace:
        number = trace.calls()[0].number
    one, = spans_of(lines_of(path, tmp_path / 'c.jsonl', number))
    assert one.span_id in {span.span_id for span in spans_of(first)} and not one.parent_span_id
    assert all(json.loads(line) for line in first)
