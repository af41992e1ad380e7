"""Functions that write to an argument, which TensorFlow shares with others.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Iterator

from pyfuncdbg.hooks.diagnosis import Evidence, Finding
from pyfuncdbg.hosts.tensorflow.doctor.judges.bytes_for_str import parameter


def find_argument_writes(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each parameter whose bytes had changed after the call."""
    for spot in evidence.spots:
        if spot.site.host != 'tensorflow' or spot.site.attrs.get('graph') is None:
            continue                            # eager calls and our own runtime pass copies
        for slot in range(max([len(call.inputs) for call in spot.calls], default=0)):
            writing_calls = [call for call in spot.calls if len(call.inputs) > slot and call.inputs[slot].changed]
            if not writing_calls:
                continue
            name = parameter(spot.site.source, slot)
            what = (f'The function writes to its argument {name!r} in {len(writing_calls):,} of {len(spot.calls):,} calls: '
                    f'in a graph that is the memory of the tensor itself: a tensor, variable or fed array of the caller '
                    f'changes')
            yield Finding('write', spot.name, spot.place, what,
                          {'calls that wrote': len(writing_calls), 'calls seen': len(spot.calls),
                           'argument bytes': writing_calls[-1].inputs[slot].nbytes}, f'{name} = {name}.copy()',
                          'as the first line of the function', tuple(call.number for call in writing_calls[:3]))
