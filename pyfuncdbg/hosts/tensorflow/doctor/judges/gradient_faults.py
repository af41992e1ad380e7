"""Judges of None gradients because of a script op, and of backward steps that fail by TensorFlow's fault.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

from pyfuncdbg.hooks.diagnosis import CallView, Evidence, Figure, Finding, Place
from pyfuncdbg.hosts.tensorflow.doctor.statements.call_rewrite import as_py_function
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import call_at

_MOST = 200
_NO_TAPE = re.compile(r"KeyError: b'pyfunc_")
_NO_FLOAT = re.compile(r'TypeError: Cannot convert 0\.0 to EagerTensor of dtype (\w+)')


class _LostGradient(NamedTuple):
    """A source whose gradient is None.

    Attributes:
        kind: 'numpy': the function has no gradient; 'captured': it uses the source without it being an argument.
        function: Its name.
        place: Of its op.
        variable: Its name for the captured source.
        source: Name of the source.
        place_asked: Where the program asked for the gradient.
    """

    kind: str
    function: str
    place: Place
    variable: str
    source: str
    place_asked: Place


def find_gradient_faults(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each op and source, one for each way in which backward steps fail."""
    requests: Counter[tuple[str, Place]] = Counter()
    losses: Counter[_LostGradient] = Counter()
    for site, calls in evidence.backward_sites():
        attrs = site.attrs
        if attrs.get('source'):
            source, line = str(attrs.get('forward', '')), _place(attrs.get('asked'))
            requests[source, line] += calls
            match attrs.get('culprit'):
                case [str(how), str(function), *place, str(variable)]:
                    losses[_LostGradient(how, function, _place(place), variable, source, line)] += calls
    for fact in evidence.facts_of_kind('gradient asked'):
        requests[fact.text('source'), fact.place] += fact.number('count')
    for fact in evidence.facts_of_kind('gradient lost'):
        line = Place(fact.text('asked_filename'), fact.number('asked_line'))
        losses[_LostGradient('numpy', fact.text('function'), fact.place, '', fact.text('source'),
                           line)] += fact.number('count')
    for one, count in losses.items():
        yield _finding(evidence, one, count, requests[one.source, one.place_asked])
    yield from _failed_steps(evidence)


def _place(value: object) -> Place:
    match value:
        case [str(filename), int(line)]:
            return Place(filename, line)
    return Place('', 0)


def _finding(evidence: Evidence, lost: _LostGradient, count: int, total: int) -> Finding:
    call = call_at(evidence, lost.place, lost.function)
    name, source, fix = lost.function, lost.source, ''
    times = f'in {count:,} of {total:,} gradients asked for at line {lost.place_asked.line}'
    figures: dict[str, Figure] = {'None': count, 'gradients': total, 'source': source}
    if lost.kind == 'numpy':
        what = (f'The gradient of {source!r} is None, {times}: numpy_function has no gradient, and the way leads through '
                f'{name}')
        if call is not None:
            other = as_py_function(call)
            fix = call.statement.replace(call.call, other) if other else ''
        return Finding('gradient', name, lost.place, what, figures, fix,
                       'py_function has one, if the function computes with TensorFlow ops (tf.sin, not np.sin); or give it '
                       'one by tf.custom_gradient')
    what = (f'The gradient of {source!r} is None, {times}: {name} captures it ({lost.variable}), and only inputs '
            f'in inp have a gradient')
    if call is not None and call.inputs is not None and call.op:
        arguments = ', '.join([call.function, f'[{", ".join([*call.inputs, lost.variable])}]', *call.rest])
        fix = call.statement.replace(call.call, f'{call.op}({arguments})')
    return Finding('gradient', name, lost.place, what, figures, fix, 'pass it in inp, and take it as one more parameter')


def _failed_steps(evidence: Evidence) -> Iterator[Finding]:
    calls_by_fault: dict[tuple[Place, str], list[CallView]] = {}
    for call in evidence.failed_steps(_MOST):
        if call.error is None or call.site.host != 'tensorflow':
            continue
        message = f'{call.error.type}: {call.error.message}'     # with TensorFlow's error around it in eager code
        if _NO_TAPE.search(message):
            calls_by_fault.setdefault((evidence.creation_place(call.forward), ''), []).append(call)
        elif match := _NO_FLOAT.search(message):
            calls_by_fault.setdefault((evidence.creation_place(call.forward), match[1]), []).append(call)
    for (place, dtype), calls in calls_by_fault.items():
        name = str(calls[0].site.attrs.get('forward') or calls[0].site.name)
        numbers = tuple(call.number for call in calls[:3])
        if not dtype:
            yield Finding('backward', name, place, 'The backward step raises KeyError: TensorFlow keeps one tape a node and '
                          'uses it once, so a second gradient over the same call, a jacobian, a loop, or a traced function '
                          'that is called twice under one tape finds none', {'backward steps that raised': len(calls)}, '',
                          'call the function once for each gradient, or give it a gradient by tf.custom_gradient', numbers)
        else:
            yield Finding('backward', name, place, f'The backward step raises TypeError: an input is {dtype}, which has no '
                          f'gradient, and TensorFlow puts 0.0 in its place', {'backward steps that raised': len(calls)},
                          'x = tf.cast(x, tf.float32)',
                          f'cast the {dtype} input before the op, and back inside of the function', numbers)
