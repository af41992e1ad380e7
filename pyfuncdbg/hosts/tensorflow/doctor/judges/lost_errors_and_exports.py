"""Judges of exported script ops, of errors never reported, and of program ends in functions.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import re
from collections.abc import Iterator

from pyfuncdbg.hooks.diagnosis import Evidence, Figure, Finding, Place, RecordedFact, Spot
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import call_at

_SWALLOWED = {'SystemExit': 'sys.exit', 'KeyboardInterrupt': 'Ctrl-C'}


def find_exports(evidence: Evidence) -> Iterator[Finding]:
    """Script ops in saved models, and calls of functions that this process does not have."""
    facts_by_place: dict[tuple[Place, str], list[RecordedFact]] = {}
    for fact in evidence.facts_of_kind('export'):
        facts_by_place.setdefault((fact.place, fact.text('folder')), []).append(fact)
    for (place, folder), facts in facts_by_place.items():
        call = call_at(evidence, place)
        name = call.function if call is not None else facts[0].text('op_type')
        yield Finding('export', name, place, f'The model saved in {folder!r} has this op, but not its function: any other '
                      f'process that calls it raises "Could not find callback with key={facts[0].text("token")} in the '
                      f'registry"',
                      {'ops in the model': len(facts)}, '', 'write the function with TensorFlow ops, or keep it out of the '
                                                            'signature that is saved and call it before or after the model')
    missing = evidence.facts_of_kind('missing')
    if missing:
        tokens = ', '.join(fact.text('token') for fact in missing[:3])
        yield Finding('export', 'PyFunc', Place('', 0), f'No function of this process is registered as {tokens}: the graph '
                      f'or model was made in another process, or its graph is gone', {'functions missing': len(missing)}, '',
                      'make the graph in this process, from the code that wraps the function')


def find_lost_errors(evidence: Evidence) -> Iterator[Finding]:
    """Exceptions that no error of TensorFlow's reported."""
    end_errors = ' '.join(fact.text('raised') for fact in evidence.facts_of_kind('ended'))
    for fact in evidence.facts_of_kind('failure'):
        if fact.number('told') or not fact.number('raised') or fact.text('type') in (*_SWALLOWED, *end_errors.split(':')):
            continue
        for spot in evidence.spots:
            failed_calls = [call for call in spot.calls if call.error is not None and any(
                (frame.filename, frame.line) == fact.place for frame in call.error.frames)]
            if failed_calls and failed_calls[0].error is not None:
                message = (failed_calls[0].error.message.splitlines() or [''])[0][:200]
                what = (f'{fact.text("type")} in {fact.number("raised"):,} of {spot.count:,} calls was lost: no error of '
                        f'TensorFlow reported it, and the elements of these calls were dropped. The first: {message}')
                figures: dict[str, Figure] = {'calls that raised': fact.number('raised'), 'errors told': 0,
                                              'calls': spot.count}
                yield Finding('lost', spot.name, fact.place, what, figures, _without_ignore_errors(evidence, spot),
                              'without ignore_errors it is raised; or catch it in the function, and count',
                              tuple(call.number for call in failed_calls[:3]))
                break


def _without_ignore_errors(evidence: Evidence, spot: Spot) -> str:
    """The dataset without `ignore_errors`, if one statement makes both."""
    for frame in reversed(spot.site.stack):
        text = evidence.statement(Place(frame.filename, frame.line))
        if '.ignore_errors(' in text:
            return re.sub(r'\.ignore_errors\([^()]*\)', '', text)
    return ''


def find_program_ends(evidence: Evidence) -> Iterator[Finding]:
    """`sys.exit` and Ctrl-C inside of a function, which TensorFlow turns into errors."""
    for spot in evidence.spots:
        if spot.site.host != 'tensorflow' or (spot.site.op_type != 'EagerPyFunc' and spot.site.attrs.get('graph') is None):
            continue
        for type, what in _SWALLOWED.items():
            calls = [call for call in spot.calls if call.error is not None and call.error.type == type]
            if calls:
                yield Finding('lost', spot.name, spot.place, f'{what} inside of the function does not end the program: '
                              f'TensorFlow makes an UnknownError of it, which code around it may catch',
                              {'calls': len(calls)}, '',
                              'raise an exception of your own, and end the program where the error arrives',
                              tuple(call.number for call in calls[:3]))
