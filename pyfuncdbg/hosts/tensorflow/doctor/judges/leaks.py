"""Entries of TensorFlow's registry, and tapes in its cache, that stay for ever.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from pyfuncdbg.hooks.diagnosis import Evidence, Figure, Finding, Place, RecordedFact
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import ScriptCall, call_at

FEWEST, LEAST = 10, 1 << 20
"""Least entries and bytes of a finding: a few functions of finished graphs are no leak."""


def find_leaks(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each place whose entries stay, one for each whose tapes do."""
    facts_by_place: dict[tuple[Place, bool, bool], list[RecordedFact]] = {}
    for fact in _with_places(evidence.facts_of_kind('leak')):
        facts_by_place.setdefault((fact.place, fact.data.get('backward') is True, _is_eager(fact)), []).append(fact)
    for several in facts_by_place.values():
        fact = _sum(several)
        if _matters(fact):
            yield _entries(evidence, fact)
    for fact in evidence.facts_of_kind('tape'):
        if _matters(fact):
            yield _tapes(evidence, fact)


def _with_places(entries: Sequence[RecordedFact]) -> Sequence[RecordedFact]:
    """Facts with the place of their function's other entries, where a thread without a line of the program made them.

    In debug mode, tf.data makes the functions of a generator on such a thread.
    """
    places = {fact.text('function'): fact.place for fact in entries if fact.place.filename and fact.text('function')}
    lost = dict.fromkeys(place for fact in entries if not fact.place.filename
                         and (place := places.get(fact.text('function'))) is not None)
    if len(lost) != 1:                          # with several the host's own functions cannot be assigned
        return entries
    (home,) = lost
    return [fact if fact.place.filename or fact.text('function') not in ('', *places) else replace(fact, place=home)
            for fact in entries]


def _is_eager(fact: RecordedFact) -> bool:
    return fact.number('eager') * 2 > fact.number('entries')


def _sum(facts: list[RecordedFact]) -> RecordedFact:
    """The sum of a place's facts: a dataset registers functions of its own beside the program's."""
    with_function = [fact for fact in facts if fact.text('function')] or facts
    first = max(with_function, key=lambda one: one.number('entries'))
    sums = ('entries', 'arrays', 'bytes', 'around', 'eager')
    totals = {name: sum(one.number(name) for one in facts) for name in sums}
    calls = max(fact.number('calls') for fact in with_function) if not _is_eager(first) else sum(
        fact.number('calls') for fact in facts)
    whole = not any(fact.data.get('whole') is False for fact in facts)
    return replace(first, data={**first.data, **totals, 'calls': calls, 'whole': whole})


def _matters(fact: RecordedFact) -> bool:
    return fact.number('entries') >= FEWEST or fact.number('bytes') >= LEAST


def _figures(fact: RecordedFact) -> dict[str, Figure]:
    entries, calls = fact.number('entries'), max(fact.number('calls'), 1)
    figures: dict[str, Figure] = {'entries': entries, 'calls': calls, 'entries a call': round(entries / calls, 3)}
    if fact.number('arrays'):
        figures |= {'arrays held': fact.number('arrays'), 'held bytes': fact.number('bytes'),
                    'growth a call, bytes': (fact.number('bytes') + fact.number('around')) // calls}
    else:
        figures['held bytes'] = fact.number('around')
    if fact.data.get('whole') is False:
        figures['inspected'] = 'a part: it holds more'
    figures['total'] = fact.number('size')
    return figures


def _entries(evidence: Evidence, fact: RecordedFact) -> Finding:
    name = fact.text('function') or ('the backward step of a py_function' if fact.data.get('backward') else 'a function')
    call = call_at(evidence, fact.place, fact.text('function'))
    if _is_eager(fact):
        what = (f'Every eager call leaves its function in script_ops._py_funcs for as long as the process lives: '
                f'{fact.number("entries"):,} entries from {fact.number("calls"):,} calls of {name}')
        if fact.data.get('backward'):
            what = (f'Every backward step of an eager py_function leaves an entry in script_ops._py_funcs for as long as '
                    f'the process lives: {fact.number("entries"):,} from {fact.number("calls"):,} steps')
        advice, fix = _without_op(call, fact)
    else:
        what = (f'{fact.number("entries"):,} functions of graphs that are gone stay in script_ops._py_funcs: the graph was '
                f'made {fact.number("calls"):,} times')
        advice = ('make the tf.function or the dataset once, before the loop, and use it again; a graph made anew each time '
                  'leaves its functions behind')
        fix = ''
    return Finding('leak', fact.text('function') or fact.text('op_type'), fact.place, what, _figures(fact), fix, advice)


def _without_op(call: ScriptCall | None, fact: RecordedFact) -> tuple[str, str]:
    """The fix that avoids the op in eager code: call the function, or trace it once."""
    name = fact.text('function')
    if fact.data.get('backward'):
        return 'call the function itself in the forward pass, without py_function: then nothing is registered', ''
    if call is not None and call.inputs is not None:
        function = f'({call.function})' if call.function.startswith('lambda') else call.function
        direct = f'{function}({", ".join(call.inputs)})'
        return ('eager code needs no py_function: call the function itself', call.statement.replace(call.call, direct))
    if name.isidentifier():
        return 'trace it once, before the loop, and call what that gives', f'{name}_traced = tf.function({name})'
    return 'eager code needs no py_function: call the function itself; or trace the loop body with tf.function once', ''


def _tapes(evidence: Evidence, fact: RecordedFact) -> Finding:
    calls = max(fact.number('calls'), 1)
    what = (f'{fact.number("entries"):,} tapes of {fact.text("function") or "a py_function"} are left in '
            f'script_ops.tape_cache, with the inputs and outputs of their calls: each call under a tape leaves one '
            f'until a gradient is asked for, and none was')
    call = call_at(evidence, fact.place, fact.text('function'))
    advice = 'what needs no gradient runs outside of the tape'
    fix = f'with tape.stop_recording():\n    {call.statement}' if call is not None else ''
    if fact.number('entries') * 2 <= calls and fact.number('entries') <= FEWEST:
        what = (f'The last call of {fact.text("function") or "a py_function"} keeps its tape, inputs and outputs in '
                f'script_ops.tape_cache until the next one: its graph is differentiated elsewhere')
        advice, fix = 'give the forward pass that needs no gradient a tf.function of its own', ''
    name = fact.text('function') or fact.text('op_type')
    return Finding('tape cache', name, fact.place, what, _figures(fact), fix, advice)
