"""Call sites of wrapped functions: a node of a graph, or in eager mode a line of the program.

Computed at the first call of a function that a hook watches, on the thread of that call. Nothing here keeps a graph or a
function alive: what is known of a registered function hangs on it.
"""
from __future__ import annotations

import sys
import weakref
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from types import CodeType, FrameType
from typing import Any

import numpy as np

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.generator_end import SOURCE
from pyfuncdbg.hooks.graph_context import DECLARED_SHAPES, RETURNED
from pyfuncdbg.hooks.live_objects import class_and_subclasses, find_objects
from pyfuncdbg.hooks.own_files import is_cell_runner, is_machinery, outside_machinery
from pyfuncdbg.hooks.patched_code import code_number
from pyfuncdbg.hooks.source_map import place as place_of
from pyfuncdbg.hosts.tensorflow.host import TensorFlowHost
from pyfuncdbg.hosts.tensorflow.nodes.creation_stack import creation
from pyfuncdbg.hosts.tensorflow.nodes.node_facts import surroundings
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY, SCRIPTS
from pyfuncdbg.hosts.tensorflow.nodes.returned_outputs import reads_returned
from pyfuncdbg.hosts.tensorflow.nodes.tensor_names import is_function, name_of, outer_tensors, outermost, prefix
from pyfuncdbg.hosts.tensorflow.python_calls.ensured_shapes import EnsuredShape, ensured
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import is_gradient, output_specs, takes_element, user_function
from pyfuncdbg.hosts.tensorflow.tensorflow_parts import TensorFlowParts

MARK, _GRAPH = '_pyfuncdbg_entry', '_pyfuncdbg_graph'
_DEEPEST = 64
_NONE: Any = object()
Again = Callable[[Any, list[Any]], Sequence[Any]]
"""Calls a function on inputs, past all hooks."""


class Given(list[Any]):
    """Outputs of a call, with the original object, which is handed on unless a hook changes them."""

    __slots__ = ('raw',)
    raw: Any


def given(raw: Any) -> Given:
    """Result of TensorFlow's call; a function, for an `__init__` costs 0.1 µs more."""
    made = Given(raw) if isinstance(raw, (list, tuple)) else Given(() if raw is None else (raw,))
    made.raw = raw
    return made


class Last:
    """The last call at one token, for the backward step that belongs to it.

    Attributes:
        call: Its id; 0 before there is one, and where no hook was interested in it.
        site, name: Id and name of its site: the site itself would keep the function alive.
    """

    __slots__ = ('call', 'name', 'site')

    def __init__(self, site: CallSite) -> None:
        self.call = 0
        self.site = site.id
        self.name = site.name


class Entry:
    """Entry of one registered function.

    Attributes:
        site: Where it is called; None for a function of TensorFlow's own, such as a backward step.
        eager: Whether it is called at once, as part of the program's own code.
        root: The outermost graph that its node is in, by id; 0 if unknown.
        token: By which its node calls it.
        last: Its last call, where backward steps may come.
        usual: For `usual_calls`, once a call was seen: the site, the root and `last`.
        types: Of a `numpy_function` in a graph, by output: the NumPy dtype that needs no further look, None for strings, and
            TensorFlow's. None where it is not known.
        ensured: The shapes that its graph promises of its outputs.
        generated: Whether each call takes the next element of a generator.
        ways: By device: what makes a call there, inside of the hooks.
    """

    __slots__ = ('eager', 'ensured', 'generated', 'last', 'root', 'site', 'token', 'types', 'usual', 'ways')

    def __init__(self, site: CallSite | None, eager: bool, root: int = 0) -> None:
        self.site = site
        self.eager = eager
        self.root = root
        self.token = ''
        self.last = Last(site) if site is not None and site.op_type == EAGER else None
        self.usual: tuple[CallSite, int, Last | None] | None = None
        self.generated = False
        self.ensured: tuple[EnsuredShape, ...] = ()
        self.types: tuple[tuple[Any, Any], ...] | None = None
        self.ways: dict[Any, Callable[..., Sequence[Any]]] = {}


class Sites:
    """Lookup of registered functions' entries."""

    def __init__(self, parts: TensorFlowParts, host: TensorFlowHost, call: Callable[..., Any]) -> None:
        """`call` is TensorFlow's own `FuncRegistry.__call__`."""
        self._parts = parts
        self._host = host
        self._call = call
        self._marked: weakref.WeakSet[Any] = weakref.WeakSet()
        self._places: dict[tuple[Any, ...], CallSite] = {}
        self._scanned: dict[str, weakref.ref[Any]] | None = None
        self.describe: Callable[[Any], dict[str, Any]] = lambda op: {}     # further attributes of a node, if somebody asks
        self._oldest = int(getattr(parts.scripts._py_funcs, '_unique_id', 0))
        self._internal: CodeType = parts.scripts._internal_py_func.__code__

    # ------------------------------------------------------------------ registration
    def registered(self, function: Any) -> None:
        """A function has got its token; its node comes next, in the graph of this thread."""
        if not self._parts.context.executing_eagerly():
            vars(function)[_GRAPH] = weakref.ref(self._parts.ops.get_default_graph())
            self._marked.add(function)

    def forget(self) -> None:
        """Take our marks off TensorFlow's objects."""
        for function in list(self._marked):
            for name in (MARK, _GRAPH):
                vars(function).pop(name, None)
        self._marked.clear()

    # ------------------------------------------------------------------ calls
    def of(self, registry: Any, token: str, registered: Any, frame: FrameType) -> Entry:
        """The entry of a function that TensorFlow calls, in this frame of ours."""
        known: Entry | None = getattr(registered, MARK, None)
        if known is not None:
            return known
        function = None if is_gradient(registered) else user_function(registered)
        if function is None:
            graph = getattr(registered, _GRAPH, lambda: None)()
            entry = Entry(None, self.eager_caller(frame) is not None, id(outermost(graph)) if graph is not None else 0)
        else:
            caller = self.eager_caller(frame)
            entry = (self._node_entry(registry, token, registered, function) if caller is None
                     else Entry(self.eager_site(str(caller.f_locals.get('name') or EAGER), EAGER, function,
                                                self.again_eagerly(registered), eager_outputs(registered)), True))
        if entry.eager:                         # TensorFlow keeps what was called eagerly for ever, and never calls it again
            return entry
        entry.token = token
        self._marked.add(registered)
        found: Entry = vars(registered).setdefault(MARK, entry)     # of several threads that come at once, one makes it
        return found

    def eager_caller(self, of: FrameType) -> FrameType | None:
        """The frame of TensorFlow's that calls a function at once; None for one that a graph calls."""
        frame = of.f_back
        for _ in range(6):
            if frame is None:
                return None
            if frame.f_code is self._internal:
                return frame
            frame = frame.f_back
        return None

    def _node_entry(self, registry: Any, token: str, registered: Any, function: Any) -> Entry:
        op = self._op(registered, token)
        eager = isinstance(registered, self._parts.scripts.EagerFunc)
        attrs: dict[str, Any] = {'token': token, '_call': partial(self._again, registry, token, registered),
                                 '_replace': partial(self._replace, registry, token, registered)}
        if op is None:
            site = CallSite(token, EAGER if eager else NUMPY, 'python', self._host, function=function, attrs=attrs)
            return Entry(site, False)
        generated = takes_element(registered)
        if generated:
            attrs[SOURCE] = f'generator {getattr(function, "__qualname__", type(function).__name__)}'
        attrs['Tin'] = [tensor.dtype.name for tensor in op.inputs]
        attrs['Tout'] = [tensor.dtype.name for tensor in op.outputs]
        attrs.update(declared_shapes(specs := output_specs(registered)))
        attrs['graph'] = getattr(op.graph, 'name', '') or 'default graph'
        attrs.update(surroundings(op))
        attrs.update(self.describe(op))
        outer: dict[str, Any] = {}
        if is_function(op.graph):
            outer, attrs[RETURNED] = outer_tensors(op.graph), reads_returned(op)
        site = CallSite(op.name, op.type, 'python', self._host, function=function, stack=creation(op),
                        inputs=[name_of(tensor, outer) for tensor in op.inputs],
                        outputs=[prefix(op.graph) + tensor.name for tensor in op.outputs], attrs=attrs)
        entry = Entry(site, False, id(outermost(op.graph)))
        entry.generated, entry.ensured = generated, ensured(op, specs)
        if not eager:
            entry.types = tuple([(_array_type(tensor.dtype), tensor.dtype) for tensor in op.outputs])
        return entry

    def again_eagerly(self, registered: Any) -> Again:
        """A function that calls another as TensorFlow calls this one."""
        return partial(_again_eagerly, self._parts, self._host, list(registered._out_dtypes))

    def eager_site(self, name: str, op_type: str, function: Any, again: Again, outputs: Sequence[Any] = ()) -> CallSite:
        """The site of a call in the program's own code, at the line that stands on the stack now.

        Args:
            name: Of the op, as the program gave it.
            op_type: Of the op.
            function: The user's own.
            again: Calls such a function on inputs.
            outputs: What `Tout` says of each: a dtype, or a TensorSpec.
        """
        return at_place(self.eager_place(name, op_type, function, outputs), again, function)

    def eager_place(self, name: str, op_type: str, function: Any, outputs: Sequence[Any] = ()) -> CallSite:
        """As `eager_site`, without the function: it may be kept."""
        frame = outside_machinery(sys._getframe(1))
        where = place_of(frame)[:2] if frame is not None else ('', 0)
        attrs = declared(self._parts, outputs)
        key = op_type, name, code_number(function), *where, repr(attrs)
        place = self._places.get(key)
        if place is None:
            place = self._places[key] = CallSite(name, op_type, 'python', self._host, stack=frames_of(frame), attrs=attrs)
        return place

    def _again(self, registry: Any, token: str, registered: Any, inputs: list[Any]) -> Sequence[Any]:
        """Call it past all hooks, and past the tape that a gradient would take."""
        if isinstance(registered, self._parts.scripts.EagerFunc):
            return as_list(registered._call(None, [self._host.tensor(value) for value in inputs]))
        # TensorFlow gives such a function bytes and NumPy's scalars for what has no dimensions, and no arrays.
        scalars = [value[()] if isinstance(value, np.ndarray) and value.ndim == 0 else value for value in inputs]
        return as_list(self._call(registry, token, None, scalars))

    def _replace(self, registry: Any, token: str, registered: Any, function: Any) -> None:
        """Call another function at this node."""
        wrapped = self._parts.conversion.do_not_convert(function)
        current = registry.get(token)
        if isinstance(current, self._parts.scripts.EagerFunc):
            current._func = wrapped
            return
        setattr(wrapped, MARK, getattr(registered, MARK, None))
        registered._pyfuncdbg_stand_in = wrapped        # the registry keeps weak references only
        registry._funcs[token] = wrapped if user_function(registered) is not function else registered

    # ------------------------------------------------------------------ nodes
    def of_node(self, op: Any) -> CallSite | None:
        """The site of the function that a node calls; None if it is none of the program's, or gone."""
        token = op.get_attr('token').decode()
        registry = self._parts.scripts._py_funcs
        registered = registry.get(token, None)
        if registered is None:
            return None
        known: Entry | None = getattr(registered, MARK, None)
        if known is None:
            vars(registered).setdefault(_GRAPH, weakref.ref(op.graph))
            self._marked.add(registered)
            known = self.of(registry, token, registered, sys._getframe())
        return known.site

    def _op(self, registered: Any, token: str) -> Any:
        """The node with this token."""
        graph = getattr(registered, _GRAPH, lambda: None)()
        if graph is None and int(token.rpartition('_')[2] or 0) < self._oldest:
            if self._scanned is None:
                self._scanned = dict(self._all_tokens())
            graph = self._scanned.get(token, lambda: None)()
        if graph is None:
            return None
        return next((op for op, found in _script_ops(graph) if found == token), None)

    def _all_tokens(self) -> Iterator[tuple[str, weakref.ref[Any]]]:
        """Nodes that were made before we came, in all graphs that live."""
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


def frames_of(frame: FrameType | None) -> tuple[Frame, ...]:
    """The program's frames on a stack, innermost last."""
    found: list[Frame] = []
    while frame is not None and len(found) < _DEEPEST and not is_cell_runner(frame.f_code):
        if not is_machinery(frame.f_code.co_filename):
            found.append(place_of(frame))
        frame = frame.f_back
    return tuple(reversed(found))


def at_place(place: CallSite, again: Again, function: Any) -> CallSite:
    """The site of an eager call at a place that was called before."""
    return CallSite(place.name, place.op_type, 'python', place.host, function=function, stack=place.stack,
                    attrs={**place.attrs, '_call': partial(again, function), '_remake': partial(at_place, place, again)},
                    same_as=place)


def _again_eagerly(parts: TensorFlowParts, host: TensorFlowHost, dtypes: list[Any], function: Any,
                   inputs: list[Any]) -> Sequence[Any]:
    wrapped = parts.scripts.EagerFunc(parts.conversion.do_not_convert(function), dtypes, False)
    return as_list(wrapped._call(None, [host.tensor(value) for value in inputs]))


def as_list(result: Any) -> list[Any]:
    """The outputs of a wrapped function, as a list, from what it gave TensorFlow."""
    if isinstance(result, (list, tuple)):
        return list(result)
    return [] if result is None else [result]


def declared(parts: TensorFlowParts, outputs: Sequence[Any]) -> dict[str, Any]:
    """'Tout' (dtypes by name) and the shapes of an eager call's outputs; nothing where `Tout` holds something else.

    TensorFlow does not check all of it: never a TensorSpec's shape, and of an eager `numpy_function` nothing.
    """
    try:
        names = [parts.dtypes.as_dtype(getattr(output, 'dtype', output)).name for output in outputs]
    except (TypeError, AttributeError):         # an eager `numpy_function` takes anything as Tout
        return {}
    return {'Tout': names, **declared_shapes(outputs)} if names else {}


def declared_shapes(specs: Sequence[Any]) -> dict[str, Any]:
    """The shapes of those outputs that have a TensorSpec with a rank; nothing where there is none."""
    said: list[Any] = [getattr(spec, 'shape', None) for spec in specs]
    shapes = [shape.as_list() if getattr(shape, 'rank', None) is not None else None for shape in said]
    return {DECLARED_SHAPES: shapes} if any(shape is not None for shape in shapes) else {}


def eager_outputs(registered: Any) -> tuple[Any, ...]:
    """The declared outputs of an eager `py_function`: TensorSpecs if `Tout` has nothing else, else dtypes."""
    return tuple(output_specs(registered) or registered._out_dtypes)


def plain_outputs(tout: Any) -> tuple[Any, ...]:
    """The same of an eager `numpy_function`, by its `Tout`."""
    return tuple(tout) if isinstance(tout, (list, tuple)) else (tout,)
