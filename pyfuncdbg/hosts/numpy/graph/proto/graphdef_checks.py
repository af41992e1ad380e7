"""Validation and order of a GraphDef's nodes before any is made: names, inputs, cycles, attrs; TensorFlow's errors.

`graphs.graph_files` calls it. It changes no graph.
"""
from __future__ import annotations

import heapq
import platform
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.errors import NotFoundError, UnimplementedError
from pyfuncdbg.hosts.numpy.graph.definitions.registry import lookup
from pyfuncdbg.hosts.numpy.graph.definitions.signatures import Signature, signature
from pyfuncdbg.hosts.numpy.graph.naming import is_node_name
from pyfuncdbg.hosts.numpy.graph.proto.graphdef import OLDEST, PRODUCER
from pyfuncdbg.hosts.numpy.graph.proto.nodedef import value_of
from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType

Place = tuple[str, int]
"""A tensor in a GraphDef: node name and output index."""
_KINDS = {'s': 'string', 'i': 'int', 'f': 'float', 'b': 'bool', 'type': 'type', 'shape': 'shape', 'tensor': 'tensor',
          'func': 'func'}
_LISTED = 1000
"""Most missing inputs that a message lists."""
_MOST_OUTPUTS = 1 << 20
"""Most outputs of one node."""
_RUNNING = 'TensorFlow 2.21.0'


@dataclass(frozen=True, slots=True)
class ImportedNode:
    """A node to be made.

    Attributes:
        message: Its NodeDef.
        inputs: Its data inputs.
        controls: Names of the nodes of its control inputs.
    """

    message: Any
    inputs: Sequence[Place]
    controls: Sequence[str]


def place(name: str) -> Place:
    """'c:1' as ('c', 1), 'c' as ('c', 0)."""
    match = re.fullmatch(r'(.+):(\d{1,9})', name)
    return (match[1], int(match[2])) if match else (name, 0)


def check_versions(versions: Any) -> None:
    """Refuse a GraphDef that needs another version of TensorFlow.

    Raises:
        ValueError: Its version is out of range.
    """
    if versions.min_consumer > PRODUCER:
        raise ValueError(f'GraphDef min consumer version {versions.min_consumer} above current version {PRODUCER} for '
                         f'{_RUNNING}.  Please upgrade TensorFlow.')
    if versions.producer < OLDEST:
        raise ValueError(f'GraphDef producer version {versions.producer} below min producer {OLDEST} supported by '
                         f'{_RUNNING}.  Please regenerate your graph.')
    if PRODUCER in versions.bad_consumers:
        raise ValueError(f'GraphDef disallows consumer version {PRODUCER}.  Please upgrade TensorFlow: this version is '
                         'likely buggy.')


def nodes_in_order(messages: Iterable[Any], mapped_places: Collection[Place],
                   mapped_controls: Collection[str]) -> list[ImportedNode]:
    """The nodes in dependency order, else in that of the GraphDef.

    Args:
        messages: NodeDefs.
        mapped_places: Tensors replaced by outer ones.
        mapped_controls: Nodes replaced as control inputs.

    Raises:
        ValueError: A name or an input is invalid, or there is a cycle.
    """
    nodes: dict[str, ImportedNode] = {}
    for message in messages:
        _check_name(message, nodes)
        nodes[message.name] = _read(message)
    needs: dict[str, set[str]] = {}
    for name, node in nodes.items():
        needs[name] = {source for source, index in node.inputs if (source, index) not in mapped_places}
        needs[name] |= {source for source in node.controls if source not in mapped_controls}
        for source in [*(s for s, i in node.inputs if (s, i) not in mapped_places), *node.controls]:
            if source not in nodes and source not in mapped_controls:
                raise ValueError(f"Node '{name}': Unknown input node '{_as_written(node, source)}'")
    return _sort_nodes(nodes, needs)


def _as_written(node: ImportedNode, source: str) -> str:
    return f'^{source}' if source in node.controls else source


def _check_name(message: Any, nodes: Collection[str]) -> None:
    if not is_node_name(message.name):
        raise ValueError(f"Node '{message.name}': Node name contains invalid characters")
    if message.name in nodes:
        raise ValueError(f"Node '{message.name}' is not unique")
    if not message.op:
        raise ValueError(f"Node '{message.name}' does not specify an operation")


def _read(message: Any) -> ImportedNode:
    inputs: list[Place] = []
    controls: list[str] = []
    for name in message.input:
        if name.startswith('^'):
            controls.append(name[1:])
        elif controls:
            raise ValueError(f"Node '{message.name}': Control dependencies must come after regular dependencies")
        else:
            inputs.append(place(name))
    return ImportedNode(message, inputs, controls)


def _sort_nodes(nodes: Mapping[str, ImportedNode], needs: Mapping[str, set[str]]) -> list[ImportedNode]:
    """Topological sort in TensorFlow's order: of the ready nodes the first in the GraphDef."""
    names = list(nodes)
    position = {name: i for i, name in enumerate(names)}
    users: dict[str, list[str]] = {name: [] for name in names}
    missing = {name: len(sources) for name, sources in needs.items()}
    for name, sources in needs.items():
        for source in sources:
            users[source].append(name)
    ready = [position[name] for name, count in missing.items() if not count]
    heapq.heapify(ready)
    order = []
    while ready:
        name = names[heapq.heappop(ready)]
        order.append(nodes[name])
        for user in users[name]:
            missing[user] -= 1
            if not missing[user]:
                heapq.heappush(ready, position[user])
    if len(order) < len(nodes):
        raise ValueError(f'{len(nodes) - len(order)} nodes in a cycle')
    return order


def check_known(op_type: str) -> None:
    """Refuse an unknown op type.

    Raises:
        NotFoundError: It is unknown.
    """
    try:
        lookup(op_type)
    except UnimplementedError as error:
        near = error.message.partition('.')[2].strip()
        raise NotFoundError(
            None, None, f"Op type not registered '{op_type}' in binary running on {platform.node()}. Make sure the Op and "
                        f'Kernel are registered in the binary running in this process. Note that if you are loading a '
                        'saved graph which used ops from tf.contrib (e.g. `tf.contrib.resampler`), accessing should be done '
                        'before importing the graph, as contrib ops are lazily registered when the module is first '
                        'accessed.' + (f'\n{near}' if near else '')) from None


def attributes(message: Any, name: str, own: bool = False) -> dict[str, Any]:
    """The attrs of a node, those with a default completed.

    Args:
        message: Its NodeDef.
        name: The name of the new node.
        own: Whether a graph of this runtime has written it: its nodes may have other attrs than TensorFlow's registry says.

    Raises:
        ValueError: One is missing, or of another type.
    """
    sig = signature(message.op)
    attrs: dict[str, Any] = {}
    for key, value in message.attr.items():
        if sig is not None and key in sig.attrs and not own:
            _check_kind(key, value, sig, name)
        try:
            plain = value_of(value)
        except (TypeError, ValueError) as error:
            raise ValueError(f"{_reason(error, value)}\n\t for attr '{key}'\n\t; NodeDef: {{{{node {name}}}}}"
                             f'{"" if sig is None else "; " + sig.text}') from None
        if plain is not None:
            attrs[key] = _as_given(key, plain)
    if sig is not None:
        missing = [repr(key) for key in sig.attrs if key not in attrs and not sig.optional(key)]
        if missing and not own:
            raise ValueError(f"NodeDef missing attr{'s' * (len(missing) > 1)} {', '.join(missing[::-1])} from {sig.text}; "
                             f'NodeDef: {{{{node {name}}}}}')
        for key in sig.attrs:
            if key not in attrs and sig.optional(key):
                attrs[key] = _as_given(key, sig.defaults[key])
            if not own:
                _check_range(key, attrs[key], sig, name)
    return attrs


def check_types(op_type: str, name: str, attrs: Mapping[str, Any]) -> None:
    """Refuse dtypes that TensorFlow's registry does not allow, after a node could not be made: some of our ops take more.

    Raises:
        ValueError: They are refused.
    """
    sig = signature(op_type)
    for key, value in attrs.items() if sig is not None else ():
        allowed = sig.allowed(key) if isinstance(value, DType) and sig is not None else []
        if allowed and value not in allowed:
            raise ValueError(f"Value for attr '{key}' of {value.kernel_name} is not in the list of allowed values: "
                             f"{', '.join(dtype.kernel_name for dtype in allowed)}\n\t; NodeDef: {{{{node {name}}}}}")


def _check_range(key: str, value: Any, sig: Signature, name: str) -> None:
    least = sig.least(key)
    number = value if isinstance(value, int) else len(value) if isinstance(value, list) else None
    if least is not None and number is not None and number < least:
        what = 'Value' if isinstance(value, int) else 'Length'
        raise ValueError(f"{what} for attr '{key}' of {number} must be at least minimum {least}\n\t; NodeDef: "
                         f'{{{{node {name}}}}}; {sig.text}')


def _as_given(key: str, value: Any) -> Any:
    """A string attr in the form of public functions: text, except for tokens and private attrs."""
    if not isinstance(value, bytes) or key == 'token' or key.startswith('_'):
        return value
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value


def _reason(error: Exception, value: Any) -> str:
    kind = value.WhichOneof('value')
    if kind == 'type':
        return f'AttrValue has invalid DataType enum: {value.type}' if value.type else 'AttrValue has invalid DataType'
    return 'AttrValue has invalid DataType' if kind == 'list' else str(error)


def _check_kind(key: str, value: Any, sig: Signature, name: str) -> None:
    expected = sig.attrs[key]
    field = value.WhichOneof('value')
    if field == 'list':
        kinds = {_KINDS[part.name] for part, _ in value.list.ListFields()}
        kind = f'list({min(kinds)})' if kinds else expected if expected.startswith('list(') else 'list'
        fits = expected.startswith('list(') and kinds <= {expected[5:-1]}
    else:
        kind = _KINDS.get(field, 'placeholder')
        if field is None:
            raise ValueError(f"AttrValue missing value with expected type '{expected}'\n\t for attr '{key}'\n\t; NodeDef: "
                             f'{{{{node {name}}}}}; {sig.text}')
        fits = kind == expected
    if not fits:
        raise ValueError(f"AttrValue had value with type '{kind}' when '{expected}' expected\n\t for attr '{key}'\n\t; "
                         f'NodeDef: {{{{node {name}}}}}; {sig.text}')


def check_inputs(op_type: str, name: str, attrs: Mapping[str, Any], inputs: Sequence[Any]) -> None:
    """Refuse inputs whose number or dtypes differ from the node's attrs, and too many outputs.

    Raises:
        ValueError: They are refused.
    """
    sig = signature(op_type)
    if sig is None:
        return
    try:
        count, outputs = (sum(argument.count(attrs) for argument in some) for some in (sig.inputs, sig.outputs))
        if outputs > _MOST_OUTPUTS:
            raise ValueError(f'NodeDef says {outputs} outputs; at most {_MOST_OUTPUTS} can be imported; {sig.text}; '
                             f'NodeDef: {{{{node {name}}}}}')
        if count > len(inputs) + _LISTED:       # an untrusted number: the list might not fit in memory
            raise ValueError(f'NodeDef expected {count} inputs, which do not match {len(inputs)} inputs specified; '
                             f'{sig.text}; NodeDef: {{{{node {name}}}}}')
        expected = [dtype for argument in sig.inputs for dtype in argument.dtypes(attrs)]
    except (TypeError, KeyError):
        raise ValueError(f'NodeDef has attrs that do not go together: {sig.text}; NodeDef: {{{{node {name}}}}}') from None
    if len(expected) != len(inputs):
        raise ValueError(f"NodeDef expected inputs '{', '.join(dtype.kernel_name for dtype in expected)}' do not match "
                         f'{len(inputs)} inputs specified; {sig.text}; NodeDef: {{{{node {name}}}}}')
    for i, (tensor, dtype) in enumerate(zip(inputs, expected, strict=True)):
        if tensor.dtype != dtype:
            raise ValueError(f'Input {i} of node {name} was passed {tensor.dtype.kernel_name} from {tensor.name} '
                             f'incompatible with expected {dtype.kernel_name}.')
