"""Judges of JAX programs: dead, repeated, blocking and copying callbacks, and functions compiled again.

Judges of the doctor: evidence in, findings out, on the thread that asks.
"""
from __future__ import annotations

from collections.abc import Iterator

from pyfuncdbg.hooks.diagnosis import Evidence, Finding, RecordedFact, Spot

_LEAST_SECONDS = 0.1
_LARGE, _LEAST_COPIED = 1 << 20, 32 << 20
_MIB = 1 << 20


def find_dead_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Pure callbacks whose result is not used: JAX removes them, and their effects do not happen."""
    for fact in evidence.facts_of_kind('jax dead'):
        function = fact.text('function')
        what = (f'{function} is never called by {fact.text("program")}: nothing uses the result of this pure_callback, so '
                f'JAX leaves it out, and what it prints or changes does not happen')
        yield Finding('dead', function, fact.place, what, {'compilations': fact.number('count')}, '',
                      'for its effect call it by jax.experimental.io_callback or jax.debug.callback; else use its result')


def find_repeated_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Callbacks that one execution of a program calls several times, though the program names them once."""
    for fact in evidence.facts_of_kind('jax repeated'):
        function, times = fact.text('function'), fact.number('times')
        what = (f'Each run of {fact.text("program")} calls {function} {times} times from one line: a transformation repeats '
                f'it, as jax.checkpoint does for the gradient')
        yield Finding('repeated', function, fact.place, what, {'calls a run': times}, '',
                      'under jax.checkpoint save its result, by jax.ad_checkpoint.checkpoint_name and a policy')


def find_blocking_callbacks(evidence: Evidence) -> Iterator[Finding]:
    """Callbacks that run while the program's thread dispatches, so that it cannot go on."""
    for spot in evidence.spots:
        inline = sum(fact.number('calls') for fact in evidence.facts_at('jax inline', spot))
        if not inline or spot.seconds < _LEAST_SECONDS:
            continue
        seconds = spot.seconds * min(inline / max(spot.count, 1), 1.0)
        if seconds >= _LEAST_SECONDS:
            what = (f'{inline} of {spot.count} calls were made on the thread that dispatches the program, which waited for '
                    f'them {seconds:.2f} s: the next step is not prepared meanwhile')
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
        yield _retraced(fact)


def _retraced(fact: RecordedFact) -> Finding:
    function, count = fact.text('function'), fact.number('count')
    what = f'{function} was compiled {count} times; last for {fact.text("changed")}'
    return Finding('retraced', function, fact.place, what, {'compilations': count}, '',
                   'give it arrays of the same shapes and dtypes (pad, or bucket the sizes), numbers as arrays instead of '
                   'static arguments, and jit a function once, outside of the loop')


def find_large_copies(evidence: Evidence) -> Iterator[Finding]:
    """Callbacks that get or return large arrays, which are copied between device and host at each call."""
    for spot in evidence.spots:
        if not spot.site.op_type.endswith('_callback') or not spot.calls or spot.site.host != 'jax':
            continue
        each = max(_size(spot, place) for place in range(len(spot.calls)))
        if each >= _LARGE and each * spot.count >= _LEAST_COPIED:
            what = (f'Each call copies up to {each / _MIB:.1f} MiB between device and host, '
                    f'{each * spot.count / _MIB:,.0f} MiB in {spot.count} calls')
            yield Finding('copies', spot.title, spot.place, what, {'calls': spot.count, 'bytes a call': each}, '',
                          'pass what the function needs: reduce or slice in JAX before the callback')


def _size(spot: Spot, place: int) -> int:
    call = spot.calls[place]
    return sum(tensor.nbytes for tensor in (*call.inputs, *call.outputs))
