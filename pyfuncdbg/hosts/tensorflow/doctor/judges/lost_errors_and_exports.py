"""Judges of exported script ops, of errors never reported, and of program ends in functions.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import re
from collections.abc import Iterator

from pyfuncdbg.hooks.diagnosis import Evidence, Figure, Finding, Place, RecordedFact, Spot
from pyfuncdbg.hosts.tensorflow.doctor.statements.script_call import call_at

_SWALLOWED = {'SystemExit': 'sys.exit', 'KeyboardInterrupt': 'Ctrl-C'}


def exports(evidence: Evidence) -> Iterator[Finding]:
    """Script ops in saved models, and calls of functions that this process does not have."""
    saved: dict[tuple[Place, str], list[RecordedFact]] = {}
    for known in evidence.facts_of_kind('export'):
        saved.setdefault((known.place, known.text('folder')), []).append(known)
    for (place, folder), found in saved.items():
        call = call_at(evidence, place)
        name = call.function if call is not None else found[0].text('op_type')
        yield Finding('export', name, place, f'The model saved in {folder!r} has this op, but not its function: any other '
                      f'process that calls it raises "Could not find callback with key={found[0].text("token")} in the '
                      f'registry"',
                      {'ops in the model': len(found)}, '', 'write the function with TensorFlow ops, or keep it out of the '
                                                            'signature that is saved and call it before or after the model')
    missing = evidence.facts_of_kind('missing')
    if missing:
        tokens = ', '.join(known.text('token') for known in missing[:3])
        yield Finding('export', 'PyFunc', Place('', 0), f'No function of this process is registered as {tokens}: the graph '
                      f'or model was made in another process, or its graph is gone', {'functions missing': len(missing)}, '',
                      'make the graph in this process, from the code that wraps the function')


def unheard(evidence: Evidence) -> Iterator[Finding]:
    """Exceptions that no error told of."""
    ended = ' '.join(known.text('raised') for known in evidence.facts_of_kind('ended'))
    for known in evidence.facts_of_kind('failure'):
        if known.number('told') or not known.number('raised') or known.text('type') in (*_SWALLOWED, *ended.split(':')):
            continue
        for spot in evidence.spots:
            failed = [call for call in spot.calls if call.error is not None and any(
                (frame.filename, frame.line) == known.place for frame in call.error.frames)]
            if failed and failed[0].error is not None:
                message = (failed[0].error.message.splitlines() or [''])[0][:200]
                what = (f'{known.text("type")} in {known.number("raised"):,} of {spot.count:,} calls reached nobody: no '
                        f'error of TensorFlow told of it, and what they worked on was dropped. The first: {message}')
                figures: dict[str, Figure] = {'calls that raised': known.number('raised'), 'errors told': 0,
                                              'calls': spot.count}
                yield Finding('lost', spot.name, known.place, what, figures, _told(evidence, spot),
                              'without ignore_errors it is raised; or catch it in the function, and count',
                              tuple(call.number for call in failed[:3]))
                break


def _told(evidence: Evidence, spot: Spot) -> str:
    """The dataset without `ignore_errors`, where one statement makes both."""
    for frame in reversed(spot.site.stack):
        text = evidence.statement(Place(frame.filename, frame.line))
        if '.ignore_errors(' in text:
            return re.sub(r'\.ignore_errors\([^()]*\)', '', text)
    return ''


def ends(evidence: Evidence) -> Iterator[Finding]:
    """`sys.exit` and Ctrl-C inside of a function, which TensorFlow turns into errors."""
    for spot in evidence.spots:
        if spot.site.host != 'tensorflow' or (spot.site.op_type != 'EagerPyFunc' and spot.site.attrs.get('graph') is None):
            continue
        for type, what in _SWALLOWED.items():
            raised = [call for call in spot.calls if call.error is not None and call.error.type == type]
            if raised:
                yield Finding('lost', spot.name, spot.place, f'{what} inside of the function does not end the program: '
                              f'TensorFlow makes an UnknownError of it, which code around it may catch',
                              {'calls': len(raised)}, '',
                              'raise an exception of your own, and end the program where the error arrives',
                              tuple(call.number for call in raised[:3]))
