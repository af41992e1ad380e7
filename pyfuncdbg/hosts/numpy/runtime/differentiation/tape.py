"""`tf.GradientTape`: records eager ops (or refers to a function's graph) and differentiates them."""
from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Sequence
from time import perf_counter_ns
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.chain import hooks, invoke
from pyfuncdbg.hooks.facts import fact_counter
from pyfuncdbg.hooks.public_function import context_hiding_own_frames
from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.numpy.graph import context
from pyfuncdbg.hosts.numpy.graph.tensor import Tensor
from pyfuncdbg.hosts.numpy.graph.types import nest
from pyfuncdbg.hosts.numpy.graph.types.composite import is_composite
from pyfuncdbg.hosts.numpy.graph.types.convert import to_array
from pyfuncdbg.hosts.numpy.graph.types.dtypes import as_dtype
from pyfuncdbg.hosts.numpy.runtime.backward.backward_pass import (
    Gradients,
    Step,
    backward,
    begin_at_integers,
    nodes_between,
    ones_like,
    plain_step,
)
from pyfuncdbg.hosts.numpy.runtime.backward.cut_gradients import count_lost, in_tape
from pyfuncdbg.hosts.numpy.runtime.backward.gradient_step import graph_step, watched_step
from pyfuncdbg.hosts.numpy.runtime.backward.unconnected_gradient import UnconnectedGradients, connected_or, zeros_of
from pyfuncdbg.hosts.numpy.runtime.eager import tape_recording
from pyfuncdbg.hosts.numpy.runtime.execution.eager_tensor import EagerTensor
from pyfuncdbg.hosts.numpy.runtime.execution.host import host

_PASS_SITE = CallSite('GradientTape.gradient', 'GradientTape', 'run', host, traits=Traits(backward_pass=True))


class GradientTape:
    """Recording of ops that depend on watched tensors, for `gradient`.

    Args:
        persistent: Keep the record for more than one `gradient` call.
        watch_accessed_variables: Watch every trainable variable that is read.
    """

    def __init__(self, persistent: bool = False, watch_accessed_variables: bool = True) -> None:
        self._persistent = persistent
        self._accessed = watch_accessed_variables
        self._recording: tape_recording.TapeRecording | None = None
        self._variables: dict[int, Any] = {}
        self._active = False

    # ------------------------------------------------------------------ recording
    def __enter__(self) -> GradientTape:
        self._push()
        return self

    def __exit__(self, *exception: object) -> None:
        if self._active:
            self._pop()

    def _push(self) -> None:
        if self._active:
            raise ValueError('Tape is still recording, This can happen if you try to re-enter an already-active tape.')
        if self._recording is None:
            self._recording = tape_recording.TapeRecording(self._accessed)
            self._variables = self._recording.variables
        tape_recording.active.recordings.append(self._recording)
        self._active = True

    def _pop(self) -> None:
        if not self._active:
            raise ValueError('Tape is not recording.')
        tape_recording.active.recordings.remove(self._recording)  # type: ignore[arg-type]
        self._active = False

    def watch(self, tensor: Any) -> None:
        """Record what depends on a tensor, variable, or structure of them.

        Raises:
            ValueError: It is no tensor.
        """
        for item in nest.flatten(tensor, expand_composites=True):
            handle = getattr(item, 'handle', item)
            if not isinstance(handle, Tensor):
                raise ValueError(f'Passed in object {item} of type {type(item).__name__!r}, not tf.Tensor or tf.Variable '
                                 'or ExtensionType.')
            if self._recording is None:
                self._recording = tape_recording.TapeRecording(self._accessed)
                self._variables = self._recording.variables
            self._recording.watch(handle, None if handle is item else item)

    @context_hiding_own_frames
    def stop_recording(self) -> Iterator[None]:
        """Suspend recording within the block.

        Raises:
            RuntimeError: The tape is not recording.
        """
        if not self._active:
            raise RuntimeError('Trying to stop recording a tape which is not recording.')
        self._pop()
        try:
            yield
        finally:
            self._push()

    def reset(self) -> None:
        """Discard the record.

        Raises:
            ValueError: The tape is not recording.
        """
        self._pop()
        self._recording = None
        self._push()

    def watched_variables(self) -> tuple[Any, ...]:
        """The variables that were read or watched, in order of creation."""
        return tuple(sorted(self._variables.values(), key=lambda variable: variable.number))

    # ------------------------------------------------------------------ differentiating
    def gradient(self, target: Any, sources: Any, output_gradients: Any = None,
                 unconnected_gradients: Any = UnconnectedGradients.NONE) -> Any:
        """The gradient of the sum of `target` with respect to each of `sources`, in their structure.

        Returns:
            A tensor of the source's shape and dtype for each source; None where unconnected (or zeros).

        Raises:
            RuntimeError: The tape is not persistent and was used before.
            ValueError: Unknown `unconnected_gradients`.
        """
        if self._recording is None:
            raise RuntimeError('A non-persistent GradientTape can only be used to compute one set of gradients (or '
                               'jacobians)')
        if target is None:
            raise TypeError('Argument `target` should be a list or nested structure of Tensors, Variables or '
                            'CompositeTensors to be differentiated, but received None.')
        unconnected = connected_or(unconnected_gradients)
        if self._active and not self._persistent:
            self._pop()
        record = self._recording
        if not self._persistent:
            self._recording = None
        leaves = nest.flatten(sources)
        targets = [_tensor(t) for t in nest.flatten(target)]
        tensors = [_tensor(s) for s in leaves]
        seeds = _seeds([_values(t) for t in nest.flatten(target)], output_gradients)
        gradients = differentiate(record.nodes, targets, tensors, seeds, self._untracked(record, leaves, tensors))
        if fact_counter.on:
            count_lost(targets, leaves, tensors, gradients, in_tape(record.nodes))
        if unconnected == 'zero':
            gradients = [zeros_of(source if hasattr(source, 'read_value') else tensor) if g is None else g
                     for source, tensor, g in zip(leaves, tensors, gradients, strict=True)]
        return nest.pack_sequence_as(sources, [_as_source(source, g) for source, g in zip(leaves, gradients, strict=True)])

    def _untracked(self, record: tape_recording.TapeRecording, things: Sequence[Any],
                   sources: Sequence[Tensor]) -> set[int]:
        """Ids of the sources that were not watched and depend on nothing that was: as in TensorFlow they have no gradient.

        A variable that only a Python function inside of a traced one reaches is an input of recorded nodes, and not read.
        """
        return {id(source) for thing, source in zip(things, sources, strict=True) if id(source) not in record.tracked
                and not (self._accessed and hasattr(thing, 'read_value') and thing.trainable)}

    def jacobian(self, target: Any, sources: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                 parallel_iterations: int | None = None,
                 experimental_use_pfor: bool = True) -> Any:
        """d target / d source for each source: shape of the target followed by that of the source.

        Raises:
            RuntimeError: The tape is not persistent, and was used or pfor is disabled.
        """
        self._check_rows(experimental_use_pfor, 'jacobian')
        from pyfuncdbg.hosts.numpy.runtime.differentiation.jacobian import jacobian
        return self._differentiated_rows(lambda: jacobian(self, target, sources, connected_or(unconnected_gradients)))

    def batch_jacobian(self, target: Any, source: Any, unconnected_gradients: Any = UnconnectedGradients.NONE,
                       parallel_iterations: int | None = None,
                       experimental_use_pfor: bool = True) -> Any:
        """For each element of the first axis, its jacobian: shape [batch, target's rest, source's rest].

        Raises:
            ValueError: The rank of target or source is too low, or their batch sizes differ.
        """
        self._check_rows(experimental_use_pfor, 'batch_jacobian')
        from pyfuncdbg.hosts.numpy.runtime.differentiation.jacobian import batch_jacobian
        return self._differentiated_rows(lambda: batch_jacobian(self, target, source))

    def _check_rows(self, pfor: bool, what: str) -> None:
        if self._recording is None:
            gap = ' ' if what == 'jacobian' else ''             # TensorFlow's text lacks one
            raise RuntimeError(f'A non-persistent GradientTape can only be used to{gap}compute one set of gradients (or '
                               'jacobians)')
        if not pfor and not self._persistent:
            raise RuntimeError(f'GradientTape must be created with persistent=True to compute the {what} with eager '
                               'execution enabled and with  experimental_use_pfor set to False.')

    def _differentiated_rows(self, compute: Callable[[], Any]) -> Any:
        """Run a function that calls `gradient` once per row."""
        persistent, self._persistent = self._persistent, True
        if self._active and not persistent:
            self._pop()
        try:
            return compute()
        finally:
            self._persistent = persistent
            if not persistent:
                self._recording = None


def _tensor(item: Any) -> Tensor:
    """The tensor of a target or source: of a variable its handle.

    Raises:
        AttributeError, TypeError: It is neither; with TensorFlow's text.
    """
    if is_composite(item) and not hasattr(item, 'flat_values'):
        raise ValueError(f'Type {type(item).__name__} is not supported as a gradient source or gradient target.')
    item = _values(item)
    tensor = getattr(item, 'handle', item)
    if not isinstance(tensor, Tensor):
        as_dtype(tensor if isinstance(tensor, (str, type(None))) else tensor.dtype)
        raise AttributeError(f"'{f'{type(item).__module__}.'.removeprefix('builtins.')}{type(item).__name__}' object has no "
                             "attribute '_id'")
    return tensor


def _values(item: Any) -> Any:
    """The tensors to differentiate for a target or source: for a ragged tensor its values."""
    return getattr(item, 'flat_values', item)


def _as_source(source: Any, gradient: Any) -> Any:
    """A gradient in the form of its source: for a ragged tensor with the same rows."""
    return source.with_flat_values(gradient) if gradient is not None and hasattr(source, 'with_flat_values') else gradient


def _seeds(targets: Sequence[Any], output_gradients: Any) -> list[Any]:
    """A seed gradient for each target: the user's, or ones if that is None or missing. As in TensorFlow
    a list is a structure, so it cannot replace a tensor."""
    values = [] if output_gradients is None else nest.flatten(output_gradients)
    values += [None] * (len(targets) - len(values))
    seeds = []
    for target, seed in zip(targets, map(_values, values), strict=False):
        if seed is not None and not isinstance(seed, Tensor):
            seed = seed._as_tensor() if hasattr(seed, '_as_tensor') else EagerTensor(to_array(seed, target.dtype))
        if seed is None and hasattr(target, 'handle') and target.dtype.is_trainable:
            with tape_recording.suspend_recordings():
                seed = ones_like(target.read_value())
        seeds.append(seed)
    return seeds


def differentiate(nodes: Sequence[Any], targets: Sequence[Any], sources: Sequence[Any], seeds: Sequence[Any],
                  untracked: Container[int] = (), *, inner: bool = False) -> list[Any]:
    """Gradients of recorded eager tensors; each step is a call of kind 'gradient' where a hook watches.

    Args:
        nodes: The recorded nodes.
        targets: The targets.
        sources: The sources.
        seeds: Gradients of the targets, None for ones.
        untracked: Ids of sources that have no gradient but their own seeds, also where they are inputs of recorded nodes.
        inner: Whether it is part of the gradient of a Python function.
    """
    gradients = Gradients()
    for target, seed in zip(targets, seeds, strict=True):
        if isinstance(target, Tensor) and target.dtype.is_trainable:
            gradients.add(target, ones_like(target) if seed is None else seed)

    def whole(*_: Any) -> Sequence[Any]:
        own = {id(s): gradients.of(s) for s in sources if id(s) in untracked}
        path, reached = nodes_between(nodes, [s for s in sources if id(s) not in own])
        if not inner:                               # a function may return whatever it likes beside its results
            begin_at_integers(path, reached, targets, gradients)
        backward(path, reached, gradients, step)
        return [None if not isinstance(s, Tensor) or not s.dtype.is_trainable else own[id(s)] if id(s) in own
                else gradients.of(s) for s in sources]

    graph = context.current_graph()
    if graph is not None:                           # the pass is part of a graph: its steps are calls when the graph runs
        step: Step = graph_step(graph)
        return list(whole())
    if not (hooks.gradient or hooks.run):
        step = plain_step
        return list(whole())
    run = Run('py_function gradient' if inner else 'GradientTape.gradient', host, perf_counter_ns(),
              feeds=[''] * len(targets), fetches=[''] * len(sources), kind='inner' if inner else 'backward')
    step = watched_step(run)
    return list(invoke(_PASS_SITE, whole, run, list(targets)) if hooks.run else whole())
