"""Entries of TensorFlow's registry, and tapes in its cache, that stay for ever.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyfuncdbg.hooks.diagnosis import Evidence, Figure, Finding, Place, RecordedFact
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import ScriptCall, call_at

FEWEST, LEAST = 10, 1 << 20
"""Entries and bytes below which nothing is said: a few functions of finished graphs are no leak."""


def leaks(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each place whose entries stay, one for each whose tapes do."""
    together: dict[tuple[Place, bool, bool], list[RecordedFact]] = {}
    for known in _placed(evidence.facts_of_kind('leak')):
        together.setdefault((known.place, known.data.get('backward') is True, _is_eager(known)), []).append(known)
    for several in together.values():
        known = _sum(several)
        if _matters(known):
            yield _entries(evidence, known)
    for known in evidence.facts_of_kind('tape'):
        if _matters(known):
            yield _tapes(evidence, known)


def _placed(entries: Sequence[RecordedFact]) -> Sequence[RecordedFact]:
    """Those that are made on a thread of the host's, where no line of the program stands, with the others of their function:
    tf.data in debug mode makes the functions of a generator there."""
    places = {known.text('function'): known.place for known in entries if known.place.filename and known.text('function')}
    lost = dict.fromkeys(place for known in entries if not known.place.filename
                         and (place := places.get(known.text('function'))) is not None)
    if len(lost) != 1:                          # of several nobody knows whose the host's own functions are
        return entries
    (home,) = lost
    return [known if known.place.filename or known.text('function') not in ('', *places) else replace(known, place=home)
            for known in entries]


def _is_eager(known: RecordedFact) -> bool:
    return known.number('eager') * 2 > known.number('entries')


def _sum(several: list[RecordedFact]) -> RecordedFact:
    """Facts of one place as one: a dataset registers functions of its own beside the program's."""
    named = [known for known in several if known.text('function')] or several
    first = max(named, key=lambda known: known.number('entries'))
    sums = ('entries', 'arrays', 'bytes', 'around', 'eager')
    added = {name: sum(known.number(name) for known in several) for name in sums}
    calls = max(known.number('calls') for known in named) if not _is_eager(first) else sum(
        known.number('calls') for known in several)
    whole = not any(known.data.get('whole') is False for known in several)
    return replace(first, data={**first.data, **added, 'calls': calls, 'whole': whole})


def _matters(known: RecordedFact) -> bool:
    return known.number('entries') >= FEWEST or known.number('bytes') >= LEAST


def _figures(known: RecordedFact) -> dict[str, Figure]:
    entries, made = known.number('entries'), max(known.number('calls'), 1)
    figures: dict[str, Figure] = {'entries': entries, 'calls': made, 'entries a call': round(entries / made, 3)}
    if known.number('arrays'):
        figures |= {'arrays held': known.number('arrays'), 'held bytes': known.number('bytes'),
                    'growth a call, bytes': (known.number('bytes') + known.number('around')) // made}
    else:
        figures['held bytes'] = known.number('around')
    if known.data.get('whole') is False:
        figures['looked at'] = 'a part: it holds more'
    figures['in all'] = known.number('size')
    return figures


def _entries(evidence: Evidence, known: RecordedFact) -> Finding:
    name = known.text('function') or ('the backward step of a py_function' if known.data.get('backward') else 'a function')
    call = call_at(evidence, known.place, known.text('function'))
    if _is_eager(known):
        what = (f'Every eager call leaves its function in script_ops._py_funcs for as long as the process lives: '
                f'{known.number("entries"):,} entries from {known.number("calls"):,} calls of {name}')
        if known.data.get('backward'):
            what = (f'Every backward step of an eager py_function leaves an entry in script_ops._py_funcs for as long as '
                    f'the process lives: {known.number("entries"):,} from {known.number("calls"):,} steps')
        advice, fix = _without_op(call, known)
    else:
        what = (f'{known.number("entries"):,} functions of graphs that are gone stay in script_ops._py_funcs: the graph was '
                f'made {known.number("calls"):,} times')
        advice = ('make the tf.function or the dataset once, before the loop, and use it again; a graph made anew each time '
                  'leaves its functions behind')
        fix = ''
    return Finding('leak', known.text('function') or known.text('op_type'), known.place, what, _figures(known), fix, advice)


def _without_op(call: ScriptCall | None, known: RecordedFact) -> tuple[str, str]:
    """The fix that avoids the op in eager code: call the function, or trace it once."""
    name = known.text('function')
    if known.data.get('backward'):
        return 'call the function itself in the forward pass, without py_function: then nothing is registered', ''
    if call is not None and call.inputs is not None:
        function = f'({call.function})' if call.function.startswith('lambda') else call.function
        direct = f'{function}({", ".join(call.inputs)})'
        return ('eager code needs no py_function: call the function itself', call.statement.replace(call.call, direct))
    if name.isidentifier():
        return 'trace it once, before the loop, and call what that gives', f'{name}_traced = tf.function({name})'
    return 'eager code needs no py_function: call the function itself; or trace the loop body with tf.function once', ''


def _tapes(evidence: Evidence, known: RecordedFact) -> Finding:
    calls = max(known.number('calls'), 1)
    what = (f'{known.number("entries"):,} tapes of {known.text("function") or "a py_function"} are left in '
            f'script_ops.tape_cache, with the inputs and outputs of their calls: each call under a tape leaves one '
            f'until a gradient is asked for, and none was')
    call = call_at(evidence, known.place, known.text('function'))
    advice = 'what needs no gradient runs outside of the tape'
    fix = f'with tape.stop_recording():\n    {call.statement}' if call is not None else ''
    if known.number('entries') * 2 <= calls and known.number('entries') <= FEWEST:
        what = (f'The last call of {known.text("function") or "a py_function"} keeps its tape, inputs and outputs in '
                f'script_ops.tape_cache until the next one: its graph is differentiated elsewhere')
        advice, fix = 'give the forward pass that needs no gradient a tf.function of its own', ''
    name = known.text('function') or known.text('op_type')
    return Finding('tape cache', name, known.place, what, _figures(known), fix, advice)
