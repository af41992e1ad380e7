"""Call sites of wrapped functions: a node of a graph, or in eager mode a line of the program.

Computed at the first watched call of a function, on its thread. Nothing here keeps a graph or function alive: the entry of
a registered function is one of its attributes.
"""
from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CodeType, FrameType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.graph_context import DECLARED_SHAPES, GRAPH, RETURNED
from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hooks.own_files import outside_machinery
from pyfuncdbg.hooks.patched_code import code_number
from pyfuncdbg.hooks.source_map import place as place_of
from pyfuncdbg.hosts.interception.program_line import program_frames
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation_frames
from pyfuncdbg.hosts.tensorflow.nodes.node_facts import node_context
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY, SCRIPTS
from pyfuncdbg.hosts.tensorflow.nodes.returned_outputs import returned_reader
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import is_function, name_of, outer_tensors, outermost, prefix
from pyfuncdbg.hosts.tensorflow.python_calls.ensured_shapes import EnsuredShape, ensured_shapes
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import is_gradient, output_specs, takes_element, user_function
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

MARK, _GRAPH = '_pyfuncdbg_entry', '_pyfuncdbg_graph'
_DEEPEST = 64
_NONE: Any = object()
CallAgain = Callable[[Any, list[Any]], Sequence[Any]]
"""Calls a function on inputs, past all hooks."""


class LastCall:
    """The last call at one token, for its backward step.

    Attributes:
        call: Its id; 0 before there is one, and where no hook was interested in it.
        site, name, stack, graph: Id, name, stack and number of the graph of its site, which would keep the function alive.
    """

    __slots__ = ('call', 'graph', 'name', 'site', 'stack')

    def __init__(self, site: CallSite) -> None:
        self.call = 0
        self.site = site.id
        self.name = site.name
        self.stack = site.stack
        self.graph = site.attrs.get(GRAPH)


class FunctionEntry:
    """Entry of one registered function.

    Attributes:
        site: Where it is called; None for a function of TensorFlow's own, such as a backward step.
        eager: Whether it is called eagerly, as part of the program's own code.
        root_graph: The outermost graph that its node is in, by id; 0 if unknown.
        token: By which its node calls it.
        last_call: Its last call, if it may have backward steps.
        fast_path: For `call_fast_path`, after the first call: the site, the root graph and the last call.
        output_types: Of a `numpy_function` in a graph, by output: the NumPy dtype that needs no further check, None for
            strings, and TensorFlow's dtype. None if unknown.
        ensured_shapes: The shapes that its graph promises of its outputs.
        takes_element: Whether each call takes the next element of a generator.
        callers: By device: a function for the hooks that makes a call.
    """

    __slots__ = (
        'callers',
        'eager',
        'ensured_shapes',
        'fast_path',
        'last_call',
        'output_types',
        'root_graph',
        'site',
        'takes_element',
        'token',
    )

    def __init__(self, site: CallSite | None, eager: bool, root: int = 0) -> None:
        self.site = site
        self.eager = eager
        self.root_graph = root
        self.token = ''
        self.last_call = LastCall(site) if site is not None and site.op_type == EAGER else None
        self.fast_path: tuple[CallSite, int, LastCall | None] | None = None
        self.takes_element = False
        self.ensured_shapes: tuple[EnsuredShape, ...] = ()
        self.output_types: tuple[tuple[Any, Any], ...] | None = None
        self.callers: dict[Any, Callable[..., Sequence[Any]]] = {}


class Sites:
    """Lookup of registered functions' entries."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, call: Callable[..., Any]) -> None:
        """`call` is TensorFlow's own `FuncRegistry.__call__`."""
        self._parts = parts
        self._host = host
        self._call = call
        self._marked_functions: weakref.WeakSet[Any] = weakref.WeakSet()
        self._places: dict[tuple[Any, ...], CallSite] = {}
        self._graphs_by_token: dict[str, weakref.ref[Any]] | None = None
        self.describe: Callable[[Any], dict[str, Any]] = lambda op: {}     # further attributes of a node, for `doctor`
        self._first_token = int(getattr(parts.scripts._py_funcs, '_unique_id', 0))
        self._internal: CodeType = parts.scripts._internal_py_func.__code__

    # ------------------------------------------------------------------ registration
    def mark_registered(self, function: Any) -> None:
        """Mark a function that has got its token with the graph of this thread, in which its node comes next."""
        if not self._parts.context.executing_eagerly():
            vars(function)[_GRAPH] = weakref.ref(self._parts.ops.get_default_graph())
            self._marked_functions.add(function)

    def forget(self) -> None:
        """Remove our marks from TensorFlow's objects."""
        for function in list(self._marked_functions):
            for name in (MARK, _GRAPH):
                vars(function).pop(name, None)
        self._marked_functions.clear()

    # ------------------------------------------------------------------ calls
    def entry_of(self, registry: Any, token: str, registered: Any, frame: FrameType) -> FunctionEntry:
        """The entry of a function that TensorFlow calls in this frame of ours."""
        cached_entry: FunctionEntry | None = getattr(registered, MARK, None)
        if cached_entry is not None:
            return cached_entry
        function = None if is_gradient(registered) else user_function(registered)
        if function is None:
            graph = getattr(registered, _GRAPH, lambda: None)()
            entry = FunctionEntry(None, self.eager_caller(frame) is not None,
                                  id(outermost(graph)) if graph is not None else 0)
        else:
            caller = self.eager_caller(frame)
            entry = (self._node_entry(registry, token, registered, function) if caller is None
                     else FunctionEntry(self.eager_site(str(caller.f_locals.get('name') or EAGER), EAGER, function,
                                                        self.eager_repeater(registered), eager_outputs(registered)), True))
        if entry.eager:                         # TensorFlow never calls it again, though it keeps it
            return entry
        entry.token = token
        self._marked_functions.add(registered)
        stored: FunctionEntry = vars(registered).setdefault(MARK, entry)    # several threads may come at once
        return stored

    def eager_caller(self, frame_of_ours: FrameType) -> FrameType | None:
        """The frame of TensorFlow that calls a function eagerly; None if a graph calls it."""
        frame = frame_of_ours.f_back
        for _ in range(6):
            if frame is None:
                return None
            if frame.f_code is self._internal:
                return frame
            frame = frame.f_back
        return None

    def _node_entry(self, registry: Any, token: str, registered: Any, function: Any) -> FunctionEntry:
        op = self._find_node(registered, token)
        eager = isinstance(registered, self._parts.scripts.EagerFunc)
        attrs: dict[str, Any] = {'token': token, '_call': partial(self._call_again, registry, token, registered),
                                 '_replace': partial(self._replace, registry, token, registered)}
        if op is None:
            site = CallSite(token, EAGER if eager else NUMPY, 'python', self._host, function=function, attrs=attrs)
            return FunctionEntry(site, False)
        generated = takes_element(registered)
        if generated:
            attrs[SOURCE] = f'generator {getattr(function, "__qualname__", type(function).__name__)}'
        attrs['Tin'] = [tensor.dtype.name for tensor in op.inputs]
        attrs['Tout'] = [tensor.dtype.name for tensor in op.outputs]
        attrs.update(declared_shapes(specs := output_specs(registered)))
        attrs['graph'] = getattr(op.graph, 'name', '') or 'default graph'
        attrs.update(node_context(op))
        attrs.update(self.describe(op))
        outer: dict[str, Any] = {}
        if is_function(op.graph):
            outer, attrs[RETURNED] = outer_tensors(op.graph), returned_reader(op)
        site = CallSite(op.name, op.type, 'python', self._host, function=function, stack=creation_frames(op),
                        inputs=[name_of(tensor, outer) for tensor in op.inputs],
                        outputs=[prefix(op.graph) + tensor.name for tensor in op.outputs], attrs=attrs)
        entry = FunctionEntry(site, False, id(outermost(op.graph)))
        entry.takes_element, entry.ensured_shapes = generated, ensured_shapes(op, specs)
        if not eager:
            entry.output_types = tuple([(_array_type(tensor.dtype), tensor.dtype) for tensor in op.outputs])
        return entry

    def eager_repeater(self, registered: Any) -> CallAgain:
        """A function that calls other functions as TensorFlow calls this one."""
        return partial(_call_eagerly_again, self._parts, self._host, list(registered._out_dtypes))

    def eager_site(self, name: str, op_type: str, function: Any, call_again: CallAgain,
                   outputs: Sequence[Any] = ()) -> CallSite:
        """The site of a call in the program's own code, at the line that is on the stack now.

        Args:
            name: Of the op, as the program gave it.
            op_type: Of the op.
            function: The user's own.
            call_again: Calls such a function on inputs.
            outputs: The declarations of `Tout`: a dtype or a TensorSpec each.
        """
        return site_at_place(self.eager_place(name, op_type, function, outputs), call_again, function)

    def eager_place(self, name: str, op_type: str, function: Any, outputs: Sequence[Any] = ()) -> CallSite:
        """As `eager_site`, but without the function, so that it can be cached."""
        frame = outside_machinery(sys._getframe(1))
        where = place_of(frame)[:2] if frame is not None else ('', 0)
        attrs = declared_attributes(self._parts, outputs)
        key = op_type, name, code_number(function), *where, repr(attrs)
        place = self._places.get(key)
        if place is None:
            stack = program_frames(frame)
            place = self._places[key] = CallSite(name, op_type, 'python', self._host, stack=stack, attrs=attrs)
        return place

    def _call_again(self, registry: Any, token: str, registered: Any, inputs: list[Any]) -> Sequence[Any]:
        """Call it past all hooks, and past the tape that a gradient would take."""
        if isinstance(registered, self._parts.scripts.EagerFunc):
            return output_values(registered._call(None, [self._host.tensor(value) for value in inputs]))
        # TensorFlow passes bytes and NumPy scalars for values without dimensions.
        scalars = [value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value for value in inputs]
        return output_values(self._call(registry, token, None, scalars))

    def _replace(self, registry: Any, token: str, registered: Any, function: Any) -> None:
        """Replace the function of this node."""
        wrapped = self._parts.conversion.do_not_convert(function)
        current = registry.get(token)
        if isinstance(current, self._parts.scripts.EagerFunc):
            current._func = wrapped
            return
        setattr(wrapped, MARK, getattr(registered, MARK, None))
        registered._pyfuncdbg_stand_in = wrapped        # the registry only keeps weak references
        registry._funcs[token] = wrapped if user_function(registered) is not function else registered

    def replay_site(self, op_type: str, function: Any, types: Sequence[str], is_node: bool, is_gradient: bool) -> CallSite:
        """A site of no graph, at which `call_again` calls a function as an op of this type does; see `Host`.

        Raises:
            ValueError: It is another op.
        """
        if is_gradient and op_type != EAGER:
            raise ValueError(f'{op_type} has no gradient')
        if op_type == EAGER:
            dtypes = [self._parts.dtypes.as_dtype(name) for name in types]
            called = _differentiated if is_gradient else _call_eagerly_again
            again: CallAgain = partial(called, self._parts, self._host, dtypes)
        elif op_type in SCRIPTS and is_node:
            again = self._call_registered
        elif op_type in SCRIPTS:
            again = call_alone
        else:
            raise ValueError(f'{op_type} is none of py_function, numpy_function and py_func')
        place = CallSite(op_type, op_type, 'python', self._host)
        return site_at_place(place, again, function)

    def _call_registered(self, function: Any, inputs: list[Any]) -> Sequence[Any]:
        """Call a function as the kernel of a `numpy_function` does."""
        registry = type(self._parts.scripts._py_funcs)()
        scalars = [value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value for value in inputs]
        return output_values(self._call(registry, registry.insert(function), None, scalars))

    # ------------------------------------------------------------------ nodes
    def node_site(self, op: Any) -> CallSite | None:
        """The site of the function that a node calls; None if it is not the program's, or gone."""
        token = op.get_attr('token').decode()
        registry = self._parts.scripts._py_funcs
        registered = registry.get(token, None)
        if registered is None:
            return None
        entry: FunctionEntry | None = getattr(registered, MARK, None)
        if entry is None:
            vars(registered).setdefault(_GRAPH, weakref.ref(op.graph))
            self._marked_functions.add(registered)
            entry = self.entry_of(registry, token, registered, sys._getframe())
        return entry.site

    def _find_node(self, registered: Any, token: str) -> Any:
        """The node with this token."""
        graph = getattr(registered, _GRAPH, lambda: None)()
        if graph is None and int(token.rpartition('_')[2] or 0) < self._first_token:
            if self._graphs_by_token is None:
                self._graphs_by_token = dict(self._find_tokens())
            graph = self._graphs_by_token.get(token, lambda: None)()
        if graph is None:
            return None
        return next((op for op, op_token in _script_ops(graph) if op_token == token), None)

    def _find_tokens(self) -> Iterator[tuple[str, weakref.ref[Any]]]:
        """The tokens of nodes that were made before the attachment, in all living graphs."""
        for graph in find_objects(*class_and_subclasses(self._parts.ops.Graph)):
            for _, token in _script_ops(graph):
                yield token, weakref.ref(graph)


def _array_type(dtype: Any) -> np.dtype[Any] | None:
    kind = np.dtype(dtype.as_numpy_dtype)
    return None if kind.hasobject else kind


def _script_ops(graph: Any) -> Iterator[tuple[Any, str]]:
    for op in graph.get_operations():
        if op.type in SCRIPTS:
            token = op.get_attr('token')
            yield op, token.decode() if isinstance(token, bytes) else token


def site_at_place(place: CallSite, call_again: CallAgain, function: Any) -> CallSite:
    """The site of an eager call at a known place."""
    return CallSite(place.name, place.op_type, 'python', place.host, function=function, stack=place.stack,
                    attrs={**place.attrs, '_call': partial(call_again, function),
                           '_remake': partial(site_at_place, place, call_again)},
                    same_as=place)


def _call_eagerly_again(parts: TensorFlowParts, host: TensorFlowHost, dtypes: list[Any], function: Any,
                        inputs: list[Any]) -> Sequence[Any]:
    wrapped = parts.scripts.EagerFunc(parts.conversion.do_not_convert(function), dtypes, False)
    return output_values(wrapped._call(None, [host.tensor(value) for value in inputs]))


def _differentiated(parts: TensorFlowParts, host: TensorFlowHost, dtypes: list[Any], function: Any,
                    values: list[Any]) -> Sequence[Any]:
    """The gradients of the inputs of a `py_function`, of those of its outputs."""
    inputs = [host.tensor(value) for value in values[:len(values) - len(dtypes)]]
    with parts.context.eager_mode():
        with parts.tape.GradientTape() as tape:
            for tensor in inputs:
                if tensor.dtype.is_floating or tensor.dtype.is_complex:
                    tape.watch(tensor)
            outputs = parts.scripts.eager_py_func(function, inputs, dtypes)
        seeds = [None if value is None else host.tensor(value) for value in values[len(inputs):]]
        return tape.gradient(list(outputs), inputs, output_gradients=seeds)  # type: ignore[no-any-return]


def call_alone(function: Any, inputs: list[Any]) -> Sequence[Any]:
    """Call a function as an eager `numpy_function` does, whatever it declares."""
    return output_values(function(*inputs))


def output_values(result: Any) -> list[Any]:
    """The outputs in the result of a wrapped function."""
    if isinstance(result, (list, tuple)):
        return list(result)
    return [] if result is None else [result]


def declared_attributes(parts: TensorFlowParts, outputs: Sequence[Any]) -> dict[str, Any]:
    """'Tout' (dtypes by name) and the shapes of an eager call's outputs; nothing where `Tout` holds something else."""
    try:
        names = [parts.dtypes.as_dtype(getattr(output, 'dtype', output)).name for output in outputs]
    except (TypeError, AttributeError):         # an eager `numpy_function` takes anything as Tout
        return {}
    return {'Tout': names, **declared_shapes(outputs)} if names else {}


def declared_shapes(specs: Sequence[Any]) -> dict[str, Any]:
    """The shapes of the outputs that have a TensorSpec with a rank; nothing if none has."""
    spec_shapes: list[Any] = [getattr(spec, 'shape', None) for spec in specs]
    shapes = [shape.as_list() if getattr(shape, 'rank', None) is not None else None for shape in spec_shapes]
    return {DECLARED_SHAPES: shapes} if any(shape is not None for shape in shapes) else {}


def eager_outputs(registered: Any) -> tuple[Any, ...]:
    """The declared outputs of an eager `py_function`: TensorSpecs if `Tout` has nothing else, else dtypes."""
    return tuple(output_specs(registered) or registered._out_dtypes)


def numpy_outputs(tout: Any) -> tuple[Any, ...]:
    """The declared outputs of an eager `numpy_function`, from its `Tout`."""
    return tuple(tout) if isinstance(tout, (list, tuple)) else (tout,)
