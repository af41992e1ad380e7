# cython: annotation_typing=False, auto_pickle=False
"""Sites of PyTorch's ops.

One is a line of the program in a call of a module, or belongs to the forward op that a backward op differentiates. Asked on
the thread of each op, for each op: what is found is kept by the code and instruction of the line. Compiled by
`op_sites.pxd`.
"""
from __future__ import annotations

import weakref
from collections import Counter
from types import CodeType, FrameType
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Run
from pyfuncdbg.hooks.own_files import is_library, is_machinery
from pyfuncdbg.hooks.traits import op_traits
from pyfuncdbg.hosts.interception.program_line import program_frames
from pyfuncdbg.hosts.torch.tapes.leaf_names import LeafNames
from pyfuncdbg.hosts.torch.thread_runs import NODES, ForwardTables, ThreadRuns
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_BETWEEN, _PROGRAM, _LIBRARY, _MODULE = range(4)
_GENERATED = ('<eval_with_key>', '<string>')
_INDUCTOR = 'torchinductor_'
_MOST = 1 << 14
_OUTPUTS = 1 << 10
"""Tensors whose ops are known by name: the newest. A table that grows would keep the garbage collector busy."""
BACKWARD = 'backward'
"""Attribute of a site whose ops are part of a backward pass."""


class OpPlace:
    """Place at which an op is executed.

    Attributes:
        frame: The program's line; that of a library where the program has none; None without either.
        module: The innermost module that is being called.
    """

    __slots__ = ('frame', 'module')

    def __init__(self, frame: FrameType | None, module: Any) -> None:
        self.frame = frame
        self.module = module


class _Entry:
    """A site with what keeps its key valid: op and code stay alive, and the module is the same one."""

    __slots__ = ('code', 'func', 'module', 'site')

    def __init__(self, site: CallSite, func: Any, code: CodeType | None, module: Any) -> None:
        self.site = site
        self.func = func
        self.code = code
        self.module = None if module is None else weakref.ref(module)


class OpSites:
    """The sites of all ops.

    Args:
        parts: Modules of the imported PyTorch.
        leaves: Names of parameters.
        runs: The active runs, with the newest ops of each thread.
    """

    def __init__(self, parts: TorchParts, leaves: LeafNames, runs: ThreadRuns) -> None:
        self._host = runs.host
        self._leaves = leaves
        self._tensor: type = parts.torch.Tensor
        self._sequence_number = parts.autograd._get_sequence_nr
        self._current_node = parts.native._current_autograd_node
        module = parts.modules.Module
        self._module_code: CodeType = module._call_impl.__code__
        self._entry_code: CodeType = module._wrapped_call_impl.__code__
        self._kinds: dict[int, int] = {}        # by id: the hash of a code object takes up to 0.7 us
        self._codes: list[CodeType] = []        # those with these ids, which stay theirs
        self._entries: dict[tuple[Any, ...], _Entry] = {}
        self._backward: dict[tuple[int, int], _Entry] = {}
        self._belongs: dict[tuple[str, str], bool] = {}
        self._names: Counter[str] = Counter()
        self._runs, self._thread = runs, runs.thread
        self._outputs: list[Any] = [None] * _OUTPUTS
        self._makers: list[Any] = [None] * _OUTPUTS
        self._made = 0

    def of(self, func: Any, frame: FrameType | None, run: Run, inputs: list[Any]) -> CallSite:
        """The site of an op that begins.

        Args:
            func: PyTorch's overload of an op.
            frame: The frame that has called it, or one further in.
            run: That it is part of.
            inputs: Its tensors, in order.
        """
        if run.kind in ('backward', 'inner'):
            node = self._current_node()
            if node is not None:
                forward = self._forward_site(node)
                if forward is not None:
                    return self._backward_site(func, forward)
        place = self._place(frame, run.kind == 'function')
        line = place.frame
        # By id: PyTorch's hash of an op is a Python function. The entry keeps what has these ids.
        key = ((id(func), id(line.f_code), line.f_lasti, id(place.module), run.kind) if line is not None
               else (id(func), None, 0, id(place.module), run.kind))
        entry = self._entries.get(key)
        if entry is None or (entry.module is not None and entry.module() is not place.module):
            if len(self._entries) > _MOST:
                self._entries.clear()
            entry = self._entries[key] = _Entry(self._new_site(func, place, run, inputs, frame), func,
                                                line.f_code if line is not None else None, place.module)
        site = entry.site
        tables: ForwardTables = self._thread.forward
        number = self._sequence_number()
        if number > tables.last_op:
            tables.op_sites[(number - 1) % NODES] = number - 1, site
        tables.last_op = number
        return site

    def note_outputs(self, site: CallSite, result: Any) -> None:
        """Note which tensors an op has made: sites that are new have them as inputs."""
        outputs = result if isinstance(result, (list, tuple)) else (result,)
        for index, tensor in enumerate(outputs):
            if isinstance(tensor, self._tensor):
                place = self._made % _OUTPUTS
                self._made += 1
                self._outputs[place] = weakref.ref(tensor)
                self._makers[place] = site.outputs[index] if index < len(site.outputs) else ''

    # ------------------------------------------------------------------ places
    def _place(self, frame: FrameType | None, in_module: bool) -> OpPlace:
        kinds = self._kinds
        line = library = module = None
        while frame is not None:
            code = frame.f_code
            kind = kinds.get(id(code))
            if kind is None:
                kind = self._note_kind(code)
            if kind == _MODULE:
                # The locals of the outer one of the two functions take 0.3 us, those of the inner one 3.
                outer = frame.f_back
                if module is None and (code is self._entry_code or outer is None or outer.f_code is not self._entry_code):
                    module = frame.f_locals.get('self')
                if line is not None and module is not None:
                    break
            elif kind == _PROGRAM and line is None:
                line = frame
                if not in_module or module is not None:
                    break
            elif kind == _LIBRARY and library is None:
                library = frame
            frame = frame.f_back
        return OpPlace(line if line is not None else library, module)

    def _note_kind(self, code: CodeType) -> int:
        if len(self._codes) >= _MOST:           # of a program that goes on making code
            self._kinds.clear()
            self._codes.clear()
        self._codes.append(code)
        kind = self._kinds[id(code)] = _MODULE if code in (self._module_code, self._entry_code) else _kind(code)
        return kind

    def _forward_site(self, node: Any) -> CallSite | None:
        """The site of the forward op that a backward node belongs to, which this thread executes."""
        number = node._sequence_nr()
        noted = self._runs.forward.op_sites[number % NODES]
        if noted is None or noted[0] != number:
            return None
        key = node.name(), noted[1].op_type
        belongs = self._belongs.get(key)
        if belongs is None:
            if len(self._belongs) > _MOST:
                self._belongs.clear()
            belongs = self._belongs[key] = _is_node_of(*key)
        return noted[1] if belongs else None

    # ------------------------------------------------------------------ new sites
    def _backward_site(self, func: Any, forward: CallSite) -> CallSite:
        key = id(func), forward.id
        entry = self._backward.get(key)
        if entry is None:
            if len(self._backward) > _MOST:
                self._backward.clear()
            name = self._unique(f'{forward.name}/{BACKWARD}/{_op_name(func)}')
            entry = self._backward[key] = _Entry(CallSite(
                name, _op_type(func), 'op', self._host, stack=forward.stack, outputs=_output_names(func, name),
                attrs={BACKWARD: True, 'forward': forward.name}, traits=op_traits(_op_type(func))), func, None, None)
        return entry.site

    def _new_site(self, func: Any, place: OpPlace, run: Run, inputs: list[Any], frame: FrameType | None) -> CallSite:
        scope = module_path(place.module, frame, self._module_code) if place.module is not None else ''
        name = self._unique(f'{scope}/{_op_name(func)}' if scope else _op_name(func))
        attrs: dict[str, Any] = {BACKWARD: True} if run.kind in ('backward', 'inner') else {}
        if place.module is not None:
            attrs['module'] = f'{scope} ({type(place.module).__name__})' if scope else type(place.module).__name__
        return CallSite(name, _op_type(func), 'op', self._host, stack=program_frames(place.frame),
                        inputs=[self._input_name(tensor, run) for tensor in inputs], outputs=_output_names(func, name),
                        attrs=attrs, traits=op_traits(_op_type(func)))

    def _input_name(self, tensor: Any, run: Run) -> str:
        if run.kind == 'function' and (parameter := self._leaves.parameter_name(tensor)) is not None:
            return parameter.name
        if name := self._leaves.known_name(tensor):
            return name
        for place in range(self._made - 1, max(self._made - _OUTPUTS, 0) - 1, -1):
            if self._outputs[place % _OUTPUTS]() is tensor:
                return self._makers[place % _OUTPUTS]  # type: ignore[no-any-return]
        return ''

    def _unique(self, name: str) -> str:
        """A name that no other site has: 'add', 'add_1', ..."""
        if len(self._names) > _MOST:
            self._names.clear()
        count = self._names[name]
        self._names[name] += 1
        return f'{name}_{count}' if count else name


def module_path(module: Any, frame: FrameType | None, module_code: CodeType) -> str:
    """The path of a module in the outermost one that is being called: 'layers.0.conv'; '' for that itself.

    Args:
        module: The module.
        frame: A frame within its call.
        module_code: Of PyTorch's function that calls a module.
    """
    root = module
    while frame is not None:
        if frame.f_code is module_code:
            root = frame.f_locals.get('self', root)
        frame = frame.f_back
    return _path_below(root, module, set()) or ''


def _path_below(root: Any, module: Any, visited: set[int]) -> str | None:
    if root is module:
        return ''
    visited.add(id(root))
    children = vars(root).get('_modules')
    for name, child in (children.items() if isinstance(children, dict) else ()):
        if child is not None and id(child) not in visited:
            path = _path_below(child, module, visited)
            if path is not None:
                return f'{name}.{path}' if path else str(name)
    return None


def _kind(code: CodeType) -> int:
    filename = code.co_filename
    if is_machinery(filename) or filename.startswith(_GENERATED) or _INDUCTOR in filename:
        return _BETWEEN
    return _LIBRARY if is_library(filename) else _PROGRAM


def _op_type(func: Any) -> str:
    """The op's name without its overload: 'aten.addmm'."""
    return str(func.overloadpacket) if hasattr(func, 'overloadpacket') else str(getattr(func, '__name__', func))


def _op_name(func: Any) -> str:
    return _op_type(func).rpartition('.')[2]


def _output_names(func: Any, name: str) -> list[str]:
    schema = getattr(func, '_schema', None)
    return [f'{name}:{i}' for i in range(len(schema.returns) if schema is not None else 1)]


def _is_node_of(node: str, op_type: str) -> bool:
    """Whether a backward node is that of an op, by their names: the nodes of another thread have the same numbers."""
    name, op = _plain(node.partition('Backward')[0]), _plain(op_type.rpartition('.')[2])
    return name.startswith(op) or op.startswith(name)


def _plain(name: str) -> str:
    return name.replace('_', '').lower()
