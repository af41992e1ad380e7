"""Functions that write to an argument, which TensorFlow shares with others.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Iterator

from pyfuncdbg.hooks.diagnosis import Evidence, Finding
from pyfuncdbg.hosts.tensorflow.doctor.judges.bytes_for_str import parameter


def writes(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each parameter whose bytes were others after the call."""
    for spot in evidence.spots:
        if spot.site.host != 'tensorflow' or spot.site.attrs.get('graph') is None:
            continue                            # an eager call, and our own runtime, hand out copies
        for slot in range(max([len(call.inputs) for call in spot.calls], default=0)):
            changed = [call for call in spot.calls if len(call.inputs) > slot and call.inputs[slot].changed]
            if not changed:
                continue
            name = parameter(spot.site.source, slot)
            what = (f'The function writes to its argument {name!r} in {len(changed):,} of {len(spot.calls):,} calls: in a '
                    f'graph that is the memory of the tensor itself: a tensor, variable or fed array of the caller changes')
            yield Finding('write', spot.name, spot.place, what,
                          {'calls that wrote': len(changed), 'calls seen': len(spot.calls),
                           'argument bytes': changed[-1].inputs[slot].nbytes}, f'{name} = {name}.copy()',
                          'as the first line of the function', tuple(call.number for call in changed[:3]))
