"""Misused arguments: strings taken for `str`, although TensorFlow's are bytes, and arguments that are written to.

Judges of the doctor: evidence in, findings out, on the thread that asks.

Functions that take bytes for `str` raise, or compare in vain. An argument that a function writes to is shared with others.
"""
from __future__ import annotations

import ast
import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pyfuncdbg.hooks.diagnosis import CallView, Evidence, Finding, Place, Spot
from pyfuncdbg.hooks.syntax_tree import tree_of

_RAISED = re.compile(
    r"first arg must be bytes|bytes-like object is required, not 'str'|can't concat str to bytes|must be str, not bytes|"
    r'can only concatenate str \(not "bytes"\) to str|cannot use a string pattern on a bytes-like object|'
    r"cannot use a bytes pattern on a string-like|os\.PathLike object, not '?EagerTensor|"
    r"Can't convert object(?: of type '\S+')? to 'str'|"
    r"EagerTensor' object has no attribute '(?:decode|startswith|endswith|split|strip|lower|upper|replace|encode|format|"
    r"read)'|"
    r"argument should be integer or bytes-like object, not 'str'|must be str or None, not bytes|"
    r"'in <string>' requires string as left operand, not bytes|"
    r'sequence item \d+: expected (?:str instance, bytes|a bytes-like object, str) found')
_OF_BYTES = re.compile(r"b['\"]|tf\.Tensor\(")
_KEY = re.compile(r"b['\"]")
_LONGEST_SLOT = 6
"""Digits: Python refuses to parse thousands of them."""


def find_bytes_for_str(evidence: Evidence) -> Iterator[Finding]:
    """Calls that raised over bytes, and comparisons of bytes with text that are never true."""
    for spot in evidence.spots:
        slots = [slot for slot in range(_width(spot)) if any(
            len(call.inputs) > slot and call.inputs[slot].dtype == 'string' for call in spot.calls)]
        if slots:
            kinds = _kinds(evidence, spot)
            raised = _raised_finding(spot, slots, kinds)
            if raised is not None:
                yield raised
            else:
                yield from _comparison_findings(spot, slots, kinds)


def _kinds(evidence: Evidence, spot: Spot) -> dict[int, str]:
    """Kinds of text that the program's functions got: 'bytes', 'array of bytes', ... by input."""
    kinds: dict[int, str] = {}
    for fact in evidence.facts_at('occupancy', spot):
        texts = fact.data.get('texts')
        for slot, kind in texts.items() if isinstance(texts, dict) else ():
            if isinstance(slot, str) and slot.isdecimal() and len(slot) <= _LONGEST_SLOT and isinstance(kind, str):
                kinds[int(slot)] = kind
    return kinds


def _width(spot: Spot) -> int:
    return max([len(call.inputs) for call in spot.calls], default=0)


def _raised_finding(spot: Spot, slots: list[int], kinds: dict[int, str]) -> Finding | None:
    failed = [call for call in spot.calls if call.error is not None and (
        _RAISED.search(call.error.message) or (call.error.type == 'KeyError' and _KEY.match(call.error.message)))]
    if not failed or failed[0].error is None:
        return None
    error = failed[0].error
    inner = next((frame for frame in reversed(error.frames) if frame.filename == spot.site.filename), None)
    place = Place(inner.filename, inner.line) if inner is not None else spot.place
    name = parameter(spot.site.source, slots[0])
    tensor = spot.site.op_type == 'EagerPyFunc'
    what = (f'{error.type}: {error.message.splitlines()[0][:200]}: {name!r} is '
            f'{"an EagerTensor whose value is bytes" if tensor else "bytes"}, and the function takes it for str')
    fix, numbers = decoding(spot, slots[0], kinds), tuple(call.number for call in failed[:3])
    return Finding('text', spot.name, place, what, {'calls that raised': len(failed), 'calls': spot.count}, fix,
                   'as the first line of the function', numbers)


def decoding(spot: Spot, slot: int, kinds: dict[int, str]) -> str:
    """The line that makes text of a parameter."""
    name = parameter(spot.site.source, slot)
    ranks = {len(call.inputs[slot].shape) for call in spot.calls if len(call.inputs) > slot}
    value = f'{name}.numpy()' if spot.site.op_type == 'EagerPyFunc' else name
    if ranks == {0}:
        return f'{name} = {value}.item().decode()' if kinds.get(slot) == 'array of bytes' else f'{name} = {value}.decode()'
    return f'{name} = np.char.decode({value}.astype(bytes))'


def parameter(source: str, slot: int) -> str:
    """The name of a function's parameter; 'x' if the source does not show it."""
    function = _function(source)
    if function is None:
        return 'x'
    names = [argument.arg for argument in (*function.args.posonlyargs, *function.args.args)]
    names = names[1:] if names[:1] == ['self'] else names
    return names[slot] if slot < len(names) else 'x'


def _function(source: str) -> ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda | None:
    tree = tree_of(textwrap.dedent(source))
    kinds = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
    return next((node for node in ast.walk(tree) if isinstance(node, kinds)), None) if tree is not None else None


def _comparison_findings(spot: Spot, slots: list[int], kinds: dict[int, str]) -> Iterator[Finding]:
    """`name == 'cat'` where `name` is bytes."""
    function = _function(spot.site.source)
    if function is None:
        return
    for slot in slots:
        kind = kinds.get(slot, '')
        name = parameter(spot.site.source, slot)
        uses = [node for node in ast.walk(function) if isinstance(node, ast.Name) and node.id == name]
        assignments = [node for node in ast.walk(function) if isinstance(node,
                                                                     ast.Assign) and _formatted_variable(node.value) == name]
        stored = {id(target) for node in assignments for target in node.targets}
        if any(isinstance(node.ctx, ast.Store) and id(node) not in stored for node in uses):
            continue                            # `label = label.decode()`: it may be text from there on
        aliases = _aliases(function, name, numpy=spot.site.op_type == 'EagerPyFunc')
        if kind in ('bytes', 'array of bytes', 'tensor'):
            texts = {target.id for node in assignments for target in node.targets if isinstance(target, ast.Name)}
            watched = (aliases if kind == 'tensor' else {name, *aliases}) | texts
            for node in ast.walk(function):
                if isinstance(node, ast.Compare) and _is_never_equal(node, watched, {name, *aliases}):
                    line = spot.site.line + node.lineno - 1
                    what = (f'{ast.unparse(node)} compares bytes with str, which are never equal: {name!r} was bytes in all '
                            f'{spot.count:,} calls')
                    yield Finding('text', spot.name, Place(spot.site.filename, line), what, {'calls': spot.count},
                                  decoding(spot, slot, kinds), 'as the first line of the function')
                    return


def _aliases(function: ast.AST, name: str, *, numpy: bool) -> set[str]:
    """Variables that are the parameter under another name, or its bytes: `label = x.numpy()`."""
    aliases: set[str] = set()
    for node in ast.walk(function):
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            value = node.value
            call = isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) and value.func.attr == 'numpy'
            inner = value.func.value if isinstance(value, ast.Call) and isinstance(value.func, ast.Attribute) else value
            if isinstance(inner, ast.Name) and inner.id == name and (call if numpy else isinstance(value, ast.Name)):
                aliases.add(node.targets[0].id)
    return aliases


def _formatted_variable(node: ast.expr) -> str:
    """The variable of `str(label)`, `repr(label)` or `f'{label}'`, which is "b'cat'" for bytes; '' for others."""
    inner: ast.expr | None = None
    if isinstance(node, ast.Call) and _is_builtin(node.func) and len(node.args) == 1 and not node.keywords:
        inner = node.args[0]
    elif isinstance(node, ast.JoinedStr) and len(node.values) == 1 and isinstance(node.values[0], ast.FormattedValue):
        inner = node.values[0].value
    return inner.id if isinstance(inner, ast.Name) else ''


def _is_builtin(node: ast.expr) -> bool:
    return isinstance(node, ast.Name) and node.id in ('str', 'repr', 'ascii')


def _is_never_equal(node: ast.Compare, names: set[str], text_variables: set[str]) -> bool:
    """Whether it compares one of these names, or `str` of one in `text_variables`, with text alone."""
    def is_bytes(side: ast.expr) -> bool:
        return (isinstance(side, ast.Name) and side.id in names) or _formatted_variable(side) in text_variables

    def never(left: ast.expr, op: ast.cmpop, right: ast.expr) -> bool:
        forward = is_bytes(left) and _is_text(right)
        backward = is_bytes(right) and _is_text(left)       # `'cat' in str(label)` may be true
        if isinstance(op, ast.In | ast.NotIn):
            return forward
        return isinstance(op, ast.Eq | ast.NotEq) and (forward or backward)
    sides = [node.left, *node.comparators]
    return any(never(*each) for each in zip(sides, node.ops, node.comparators, strict=False))


def _is_text(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return bool(node.elts) and all(_is_text(item) for item in node.elts)
    if isinstance(node, ast.Dict):
        return bool(node.keys) and all(key is not None and _is_text(key) for key in node.keys)
    return isinstance(node, ast.Constant) and isinstance(node.value, str) and not _OF_BYTES.match(node.value)


def find_argument_writes(evidence: Evidence) -> Iterator[Finding]:
    """One finding for each parameter whose bytes had changed after the call, and not only while another's had, too.

    Functions of one run get the same memory, at once on several threads: what one writes changes the arguments of all.
    """
    spots = [spot for spot in evidence.spots if _shares_memory(spot)]
    changes = [_Change(spot, slot, call) for spot in spots for call in spot.calls
               for slot, tensor in enumerate(call.inputs) if tensor.changed]
    _note_concurrent(changes)
    sure = {id(change.spot) for change in changes if not change.beside}
    for spot in spots:
        for slot in range(_width(spot)):
            own = [change for change in changes if change.spot is spot and change.slot == slot]
            suspects = {id(other): other for change in own for other in change.beside}
            if alone := [change.call for change in own if not change.beside]:
                yield _write_finding(spot, slot, alone)
            elif own and not sure.intersection(suspects):
                names = ' or '.join(dict.fromkeys(other.name for other in suspects.values()))
                yield _write_finding(spot, slot, [change.call for change in own], f', by itself or by {names} meanwhile')


@dataclass(frozen=True, slots=True)
class _Change:
    """An argument that had changed after a call; `beside`, other functions with one whose calls were under way at once."""

    spot: Spot
    slot: int
    call: CallView
    beside: list[Spot] = field(default_factory=list)


def _note_concurrent(changes: Sequence[_Change]) -> None:
    under_way: list[_Change] = []
    for change in sorted(changes, key=lambda each: each.call.started):
        under_way = [other for other in under_way if other.call.duration is None or
                     other.call.started + other.call.duration >= change.call.started]
        for other in under_way:
            if other.spot is not change.spot:
                change.beside.append(other.spot)
                other.beside.append(change.spot)
        under_way.append(change)


def _shares_memory(spot: Spot) -> bool:
    """Whether its arguments are the memory of tensors: eager calls and our own runtime pass copies."""
    return spot.site.host == 'tensorflow' and spot.site.attrs.get('graph') is not None


def _write_finding(spot: Spot, slot: int, calls: Sequence[CallView], doubt: str = '') -> Finding:
    name = parameter(spot.site.source, slot)
    writes = f"The function's argument {name!r} is written to" if doubt else f'The function writes to its argument {name!r}'
    what = (f'{writes} in {len(calls):,} of {len(spot.calls):,} calls{doubt}: in a graph that is the memory of the tensor '
            f'itself: a tensor, variable or fed array of the caller changes')
    return Finding('write', spot.name, spot.place, what,
                   {'calls that wrote': len(calls), 'calls seen': len(spot.calls),
                    'argument bytes': calls[-1].inputs[slot].nbytes}, f'{name} = {name}.copy()',
                   'as the first line of the function', tuple(call.number for call in calls[:3]))
