"""Judges of slow pipelines: functions that wait for one another or the GIL, or run serially.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Iterator

from pyfuncdbg.hooks.diagnosis import Evidence, Figure, Finding, InterpreterUse, Place, Spot
from pyfuncdbg.hooks.graph_context import DATASET
from pyfuncdbg.hosts.tensorflow.doctor.statements.call_rewrite import as_stateless
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import call_of

LEAST = 0.1
"""Least seconds of a finding."""
_SHARE = 0.25
_ONE = 1.25
_LONG_WAIT = 2e-3
"""Seconds of waiting for the GIL that only a held one causes: CPython releases it every 5 ms."""


def find_waits(evidence: Evidence) -> Iterator[Finding]:
    """Functions that share the GIL, run one at a time in a dataset, or wait for another that they do not need."""
    for spot in evidence.spots:
        use = evidence.use(spot)
        if use is not None:
            yield from _gil_findings(evidence, spot, use)
    yield from _order_findings(evidence)


def _gil_findings(evidence: Evidence, spot: Spot, use: InterpreterUse) -> Iterator[Finding]:
    graph = str(spot.site.attrs.get('graph', ''))
    if use.busy < LEAST or use.share < _SHARE:
        return
    figures: dict[str, Figure] = {
        'calls': use.calls, 'most at once': use.most_at_once, 'computing at once': round(use.computing, 2),
        'CPU seconds': use.cpu, 'waiting seconds': use.waiting, 'share of its time': use.share}
    if use.gil_wait is not None:
        figures['GIL wait on arrival, seconds'] = use.gil_wait
    is_busy = use.computing >= 0.7 or (use.computing >= 0.4 and (use.gil_wait or 0.0) >= _LONG_WAIT)
    if use.most_at_once > 1 and is_busy and use.computing <= _ONE:
        what = (f'Up to {use.most_at_once} calls are under way at once, but only {use.computing:.2f} at a time compute: the '
                f'function holds the GIL, so threads take turns; {use.waiting:.2f} of {use.wall:.2f} s in it were waiting')
        fix = _with_batch(evidence, spot) if graph.startswith(DATASET) else ''
        yield Finding('gil', spot.title, spot.place, what, figures, fix,
                      'more parallel calls do not help. One call for a whole batch does, with NumPy over the batch in place '
                      'of Python over elements; so do TensorFlow ops, which need no GIL')
    elif use.most_at_once == 1 and graph.startswith(f'{DATASET}map') and spot.count > 1:
        yield from _serial_finding(evidence, spot, figures, use.computing)


def _serial_finding(evidence: Evidence, spot: Spot, figures: dict[str, Figure], load: float) -> Iterator[Finding]:
    """A map that makes one call at a time, though its function releases the GIL."""
    frames = spot.site.stack
    texts = [evidence.statement(Place(frame.filename, frame.line)) for frame in frames]
    map_text = next((text for text in reversed(texts) if '.map(' in text), '')
    if load > 0.5 or 'num_parallel_calls' in map_text:
        return
    what = (f'The dataset calls it one at a time, and it spends {1 - load:.0%} of its time waiting, not computing: calls '
            f'could overlap')
    yield Finding('serial', spot.name, spot.place, what, figures, _with_parallel_calls(map_text),
                  'let the map make several at once')


def _with_parallel_calls(text: str) -> str:
    """A statement whose map has parallel calls."""
    start = text.find('.map(')
    depth = 0
    for at in range(start + 4, len(text)) if start >= 0 else ():
        depth += (text[at] in '([{') - (text[at] in ')]}')
        if depth == 0:
            return f'{text[:at]}, num_parallel_calls=tf.data.AUTOTUNE{text[at:]}'
    return 'dataset = dataset.map(function, num_parallel_calls=tf.data.AUTOTUNE)'


def _with_batch(evidence: Evidence, spot: Spot) -> str:
    """A dataset that calls the function once for a batch."""
    for frame in reversed(spot.site.stack):
        text = evidence.statement(Place(frame.filename, frame.line))
        if '.map(' in text and '.batch(' not in text.partition('.map(')[0]:
            return text.replace('.map(', '.batch(32).map(', 1)
    return ''


def _order_findings(evidence: Evidence) -> Iterator[Finding]:
    by_token = {(site.process, str(site.attrs.get('token', ''))): spot for spot in evidence.spots for site in spot.sites}
    pairs: set[tuple[Place, Place]] = set()
    for spot in evidence.spots:
        for site in spot.sites:
            idle = evidence.graph_attributes(site).get('waits_for')
            for token in idle if isinstance(idle, list) else ():
                other = by_token.get((site.process, str(token)))
                if other is None or (other.place, spot.place) in pairs or min(spot.seconds, other.seconds) < LEAST:
                    continue
                pairs.add((other.place, spot.place))
                yield _order_finding(evidence, spot, other)


def _order_finding(evidence: Evidence, spot: Spot, other: Spot) -> Finding:
    overlap = min(spot.seconds, other.seconds)
    what = (f'It waits for {other.name!r} (line {other.place.line}) though it does not use its outputs: both are '
            f'stateful, so TensorFlow runs them one after the other in every call of the function')
    figures: dict[str, Figure] = {'calls': spot.count, f'{spot.name}, seconds': spot.seconds,
                                  f'{other.name}, seconds': other.seconds, 'could overlap, seconds': overlap}
    call = call_of(evidence, spot)
    plain = as_stateless(call) if call is not None else ''
    fix = call.statement.replace(call.call, plain) if call is not None and plain else ''
    if spot.site.op_type == 'PyFunc':
        return Finding('order', spot.name, spot.place, what, figures, fix,
                       'if it depends on its inputs alone and has no effect')
    return Finding('order', spot.name, spot.place, what, figures, fix,
                   'py_function is always stateful. If no gradient goes through it and it depends on its inputs alone, '
                   'numpy_function does the same on arrays')
