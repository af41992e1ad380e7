"""Op signatures of TensorFlow's registry: names and types of inputs and outputs, and attrs.

Parsed from `op_signatures.txt`, lines as TensorFlow prints them in errors. The import of a GraphDef checks nodes by it,
and function bodies name outputs by it. Loaded at first use. No state but the table.
"""
from __future__ import annotations

import functools
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

from pyfuncdbg.hosts.numpy.graph.types.dtypes import DType, as_dtype
from pyfuncdbg.hosts.numpy.graph.types.shapes import TensorShape


@dataclass(frozen=True, slots=True)
class Argument:
    """One input or output.

    Attributes:
        name: 'x'.
        type: 'float', or the attr that has its dtype or list of dtypes.
        number: The attr with its number of tensors, or ''.
    """

    name: str
    type: str
    number: str

    def dtypes(self, attrs: Mapping[str, Any]) -> list[DType]:
        """The dtypes of its tensors in a node with these attrs."""
        kind = attrs.get(self.type)
        types = list(kind) if isinstance(kind, list) else [kind if isinstance(kind, DType) else as_dtype(self.type)]
        return types * attrs[self.number] if self.number else types

    def count(self, attrs: Mapping[str, Any]) -> int:
        """Its number of tensors in a node with these attrs, which are not trusted.

        Raises:
            TypeError, KeyError: The attrs lack the number.
        """
        kind = attrs.get(self.type)
        each = len(kind) if isinstance(kind, list) else 1
        return each * max(index(attrs[self.number]), 0) if self.number else each


@dataclass(frozen=True, slots=True)
class Signature:
    """One op type.

    Attributes:
        text: 'Op<name=...>', as in TensorFlow's errors.
        inputs: In order.
        outputs: In order.
        attrs: Kind of each attr ('type', 'list(int)', ...).
        defaults: Default of each attr that has one, if it is plain data.
    """

    text: str
    inputs: Sequence[Argument]
    outputs: Sequence[Argument]
    attrs: Mapping[str, str]
    defaults: Mapping[str, Any]

    def allowed(self, attr: str) -> list[DType]:
        """The allowed dtypes of an attr of type 'type', in TensorFlow's order; empty for all."""
        match = re.search(rf'attr={re.escape(attr)}:type[^;]*?allowed=\[([^\]]*)\]', self.text)
        names = [name.strip().removeprefix('DT_').lower() for name in match[1].split(',')] if match is not None else []
        return [as_dtype(name) for name in names]

    def least(self, attr: str) -> int | None:
        """The minimum of an attr, or of the length of a list."""
        match = re.search(rf'attr={re.escape(attr)}:[^;]*?,min=(\d+)', self.text)
        return None if match is None else int(match[1])

    def optional(self, attr: str) -> bool:
        """Whether a node need not have this attr."""
        return attr in self.defaults


@functools.cache
def _lines() -> Mapping[str, str]:
    from importlib.resources import files  # loads twenty modules
    text = (files('pyfuncdbg.hosts.numpy.graph') / 'op_signatures.txt').read_text(encoding='utf-8')
    return {line.partition(';')[0]: line for line in text.splitlines()}


@functools.cache
def signature(op_type: str) -> Signature | None:
    """The signature of an op type; None for one that TensorFlow does not have."""
    line = _lines().get(op_type)
    if line is None:
        return None
    match = re.match(r'\w+; signature=(.*?) -> (.*?)(?:; |$)', line)
    assert match is not None
    attrs: dict[str, str] = {}
    defaults: dict[str, Any] = {}
    for part in line[match.end():].split('; '):
        if part.startswith('attr='):
            name, _, rest = part.removeprefix('attr=').partition(':')
            attr_match = re.match(r'([\w()]+)(?:,default=(.*?))?(?:,min=.*|,allowed=.*)?$', rest)
            assert attr_match is not None, line
            attrs[name] = attr_match[1]
            if attr_match[2] is not None:
                defaults[name] = _read(attr_match[1], attr_match[2])
    lists = [name for name, kind in attrs.items() if kind == 'list(type)'] or ['']     # TensorFlow does not print which
    return Signature(f'Op<name={line}>', _arguments(match[1], lists[0]), _arguments(match[2], lists[-1]), attrs, defaults)


def _arguments(text: str, of_lists: str) -> list[Argument]:
    arguments = []
    for part in filter(None, text.split(', ')):
        name, _, kind = part.partition(':')
        number, _, kind = kind.removeprefix('Ref(').removesuffix(')').rpartition('*')
        arguments.append(Argument(name, kind or of_lists, number))
    return arguments


def _read(kind: str, text: str) -> Any:
    """Parse a default into the form of `nodedef.value_of`."""
    if kind.startswith('list('):
        inner = text.strip('[]')
        return [_read(kind[5:-1], item) for item in inner.split(', ')] if inner else []
    if kind == 'bool':
        return text == 'true'
    if kind == 'int':
        return int(text)
    if kind == 'float':
        return float(text)
    if kind == 'type':
        return as_dtype(text.removeprefix('DT_').lower())
    if kind == 'shape':
        return TensorShape(None) if text == '<unknown>' else TensorShape(
            [None if size == '?' else int(size) for size in filter(None, text.strip('[]').split(','))])
    return text.strip('"').encode().decode('unicode_escape').encode('latin-1')
