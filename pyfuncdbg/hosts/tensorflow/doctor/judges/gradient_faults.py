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


class _Lost(NamedTuple):
    """A source whose gradient is None.

    Attributes:
        how: 'numpy': the function has no gradient; 'captured': it gets at the source without being given it.
        function: Its name.
        place: Of its op.
        variable: How it names what it captured.
        source: Name of the source.
        asked: Where the program asked for the gradient.
    """

    how: str
    function: str
    place: Place
    variable: str
    source: str
    asked: Place


def gradients(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each op and source, one for each way in which backward steps fail."""
    asked: Counter[tuple[str, Place]] = Counter()
    lost: Counter[_Lost] = Counter()
    for site, calls in evidence.backward_sites():
        attrs = site.attrs
        if attrs.get('source'):
            source, line = str(attrs.get('forward', '')), _place(attrs.get('asked'))
            asked[source, line] += calls
            match attrs.get('culprit'):
                case [str(how), str(function), *place, str(variable)]:
                    lost[_Lost(how, function, _place(place), variable, source, line)] += calls
    for known in evidence.facts_of_kind('gradient asked'):
        asked[known.text('source'), known.place] += known.number('count')
    for known in evidence.facts_of_kind('gradient lost'):
        line = Place(known.text('asked_filename'), known.number('asked_line'))
        lost[_Lost('numpy', known.text('function'), known.place, '', known.text('source'), line)] += known.number('count')
    for one, count in lost.items():
        yield _finding(evidence, one, count, asked[one.source, one.asked])
    yield from _failed(evidence)


def _place(told: object) -> Place:
    match told:
        case [str(filename), int(line)]:
            return Place(filename, line)
    return Place('', 0)


def _finding(evidence: Evidence, lost: _Lost, count: int, asked: int) -> Finding:
    call = call_at(evidence, lost.place, lost.function)
    name, source, fix = lost.function, lost.source, ''
    times = f'in {count:,} of {asked:,} gradients asked for at line {lost.asked.line}'
    figures: dict[str, Figure] = {'None': count, 'asked': asked, 'source': source}
    if lost.how == 'numpy':
        what = (f'The gradient of {source!r} is None, {times}: numpy_function has no gradient, and the way leads through '
                f'{name}')
        if call is not None:
            other = as_py_function(call)
            fix = call.statement.replace(call.call, other) if other else ''
        return Finding('gradient', name, lost.place, what, figures, fix,
                       'py_function has one, if the function computes with TensorFlow ops (tf.sin, not np.sin); or give it '
                       'one by tf.custom_gradient')
    what = (f'The gradient of {source!r} is None, {times}: {name} takes it from outside ({lost.variable}), and only what is '
            f'in inp has a gradient')
    if call is not None and call.inputs is not None and call.op:
        arguments = ', '.join([call.function, f'[{", ".join([*call.inputs, lost.variable])}]', *call.rest])
        fix = call.statement.replace(call.call, f'{call.op}({arguments})')
    return Finding('gradient', name, lost.place, what, figures, fix, 'pass it in inp, and take it as one more parameter')


def _failed(evidence: Evidence) -> Iterator[Finding]:
    seen: dict[tuple[Place, str], list[CallView]] = {}
    for call in evidence.failed_steps(_MOST):
        if call.error is None or call.site.host != 'tensorflow':
            continue
        raised = f'{call.error.type}: {call.error.message}'     # with TensorFlow's error around it in eager code
        if _NO_TAPE.search(raised):
            seen.setdefault((evidence.creation_place(call.forward), ''), []).append(call)
        elif match := _NO_FLOAT.search(raised):
            seen.setdefault((evidence.creation_place(call.forward), match[1]), []).append(call)
    for (place, why), calls in seen.items():
        name = str(calls[0].site.attrs.get('forward') or calls[0].site.name)
        numbers = tuple(call.number for call in calls[:3])
        if not why:
            yield Finding('backward', name, place, 'The backward step raises KeyError: TensorFlow keeps one tape a node and '
                          'uses it once, so a second gradient over the same call, a jacobian, a loop, or a traced function '
                          'that is called twice under one tape finds none', {'backward steps that raised': len(calls)}, '',
                          'call the function once for each gradient, or give it a gradient by tf.custom_gradient', numbers)
        else:
            yield Finding('backward', name, place, f'The backward step raises TypeError: an input is {why}, which has no '
                          f'gradient, and TensorFlow puts 0.0 in its place', {'backward steps that raised': len(calls)},
                          'x = tf.cast(x, tf.float32)',
                          f'cast the {why} input before the op, and back inside of the function', numbers)
