"""Judges of JAX programs: dead, repeated, blocking and copying callbacks, and functions compiled again.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

import math
import re
from collections.abc import Iterator

from pyfuncdbg.hooks.diagnosis import Evidence, Finding, TensorView

_LEAST_SECONDS = 0.1
_OFTEN = 10
"""Reads at a line from which on it is one of a loop."""
_LARGE, _LEAST_COPIED = 1 << 20, 32 << 20
_MIB = 1 << 20
_FEW = 4
"""Calls for one compilation, at which compiling them is no fault."""
_SAME = {'shape': 'give it arrays of the same shapes and dtypes: pad them, or round sizes up to a few',
         'number': 'give it arrays always, or numbers of Python always: jnp.float32(v)',
         'static': 'pass what changes as an array, not as a static argument; an object needs __eq__ and __hash__',
         'function': 'jit it once, outside of the loop, and pass what changes as arguments'}
"""What to do about a difference, by its kind."""


def find_dead_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Pure callbacks whose result is not used: JAX removes them, and their effects do not happen."""
    for fact in evidence.facts_of_kind('jax dead'):
        function = fact.text('function')
        what = (f'{function} is never called by {fact.text("program")}: nothing uses the result of this pure_callback, so '
                f'JAX leaves it out, and what it prints or changes does not happen')
        yield Finding('dead', function, fact.place, what, {'compilations': fact.number('count')}, '',
                      'for its effect call it by jax.experimental.io_callback or jax.debug.callback; else use its result')


def find_repeated_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Callbacks that `jax.checkpoint` calls once more for the gradient."""
    for fact in evidence.facts_of_kind('jax repeated'):
        function, times = fact.text('function'), fact.number('times')
        what = (f'{function} is called again in each run of {fact.text("program")}: jax.checkpoint repeats it for the '
                f'gradient, and what it prints or changes happens again')
        yield Finding('repeated', function, fact.place, what, {'calls a run': times} if times else {}, '',
                      'save its result, by jax.ad_checkpoint.checkpoint_name and a policy')


def find_blocking_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Callbacks that run while the program's thread dispatches, so that it cannot go on."""
    for spot in evidence.spots:
        inline = sum(fact.number('calls') for fact in evidence.facts_at('jax inline', spot))
        if not inline or spot.seconds < _LEAST_SECONDS:
            continue
        seconds = spot.seconds * min(inline / max(spot.count, 1), 1.0)
        if seconds >= _LEAST_SECONDS:
            about = '' if inline >= spot.count else 'about '
            what = (f'{inline} of {spot.count} calls were made on the thread that dispatches the program, which waited for '
                    f'them {about}{seconds:.2f} s: the next step is not prepared meanwhile')
            yield Finding('blocking', spot.title, spot.place, what,
                          {'calls': spot.count, 'calls while dispatching': inline, 'seconds': round(seconds, 3)}, '',
                          'make it short, and hand what takes long to a thread of your own; or compute it in JAX')


def find_error_types(evidence: Evidence) -> Iterator[Finding]:
    """Exceptions that the program gets as errors of different types, depending on earlier calls."""
    for fact in evidence.facts_of_kind('jax error types'):
        what = (f'What {fact.text("function")} raises comes to the program as {fact.text("types")}: JAX raises '
                f'JaxRuntimeError at the first call of a compiled function, and ValueError where C++ dispatches it '
                f'(jax issue 34083)')
        yield Finding('error type', fact.text('function'), fact.place, what, {}, '',
                      'except (jax.errors.JaxRuntimeError, ValueError); or return a flag, and check it outside')


def find_retraced_functions(evidence: Evidence) -> Iterator[Finding]:
    """Functions that are traced and compiled for every few calls."""
    for fact in evidence.facts_of_kind('jax retraced'):
        function, count, calls = fact.text('function'), fact.number('count'), fact.number('calls')
        if calls < count * _FEW:
            what = f'{function} was compiled {count:,} times for {calls:,} calls; last for {fact.text("changed")}'
            yield Finding('retraced', function, fact.place, what, {'compilations': count, 'calls': calls}, '',
                          _SAME.get(fact.text('kind'), 'jit it once, outside of the loop, and pass what changes as arrays'))


def find_large_copies(evidence: Evidence) -> Iterator[Finding]:
    """Callbacks that get or return large arrays, which are copied for Python at each call."""
    for spot in evidence.spots:
        if not spot.site.op_type.endswith('_callback') or not spot.calls or spot.site.host != 'jax':
            continue
        sizes = [sum(_size(tensor) for tensor in (*call.inputs, *call.outputs)) for call in spot.calls]
        total = round(sum(sizes) / len(sizes) * spot.count)
        if max(sizes) >= _LARGE and total >= _LEAST_COPIED:
            what = (f'Each call copies up to {max(sizes) / _MIB:.1f} MiB between JAX and Python, {total / _MIB:,.0f} MiB in '
                    f'{spot.count} calls')
            yield Finding('copies', spot.title, spot.place, what, {'calls': spot.count, 'most in a call, bytes': max(sizes)},
                          '', 'pass what the function needs: reduce or slice in JAX before the callback')


def find_host_reads(evidence: Evidence) -> Iterator[Finding]:
    """Lines that read arrays of a device again and again: they copy large ones, or wait for what is not computed."""
    for fact in evidence.facts_of_kind('jax reads'):
        count, seconds, nbytes = fact.number('copies'), fact.number('milliseconds') / 1000, fact.number('bytes')
        if count < _OFTEN:
            continue
        figures: dict[str, int | float | str] = {'reads': count, 'bytes': nbytes, 'seconds': round(seconds, 3)}
        if fact.number('largest') >= _LARGE and nbytes >= _LEAST_COPIED:
            what = (f'Arrays of up to {fact.number("largest") / _MIB:.1f} MiB are copied from a device here, '
                    f'{nbytes / _MIB:,.0f} MiB in {count:,} reads, which took {seconds:.2f} s')
            yield Finding('host copies', 'reads', fact.place, what, figures, '',
                          'reduce or slice in JAX first, and read what is left; or read it once in many steps')
        elif seconds >= _LEAST_SECONDS:
            what = (f'{count:,} reads of arrays of a device took {seconds:.2f} s here: each waits until its array is '
                    f'computed, and the next step is not dispatched meanwhile')
            yield Finding('waits', 'reads', fact.place, what, figures, '',
                          'keep the arrays, and read them once in many steps; or begin with x.copy_to_host_async()')


def _size(tensor: TensorView) -> int:
    """The bytes of a tensor, also of one that was not computed when its call was recorded."""
    bits = re.search(r'\d+$', tensor.dtype)
    return tensor.nbytes or math.prod(tensor.shape) * (max(int(bits[0]) // 8, 1) if bits is not None else 1)
