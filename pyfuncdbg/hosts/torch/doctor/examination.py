"""Examination of a PyTorch program for `pyfuncdbg doctor`: facts that no call shows. On the threads of the calls."""
from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from pyfuncdbg.hooks.call import Frame
from pyfuncdbg.hooks.facts import Fact
from pyfuncdbg.hooks.locks import new_lock
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.torch.doctor.context_tensors import context_tensors
from pyfuncdbg.hosts.torch.doctor.loader_iterators import LoaderIterators
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.watched_function import WATCHED
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_MOST = 1 << 12
_SHAPE_KEYS = ('Meta', 'CompositeImplicitAutograd', 'CompositeExplicitAutograd')
"""Dispatch keys of kernels that tell shapes: fakes, and those that consist of ops which do."""
_UNAWAITED = frozenset(('cpu', 'meta'))
"""Types of devices that compute when they are told to, or never."""


class TorchExamination:
    """The facts of one process.

    Args:
        parts: Modules of the imported PyTorch.
    """

    def __init__(self, parts: TorchParts) -> None:
        self._parts = parts
        self._tensor: type = parts.torch.Tensor
        self._loaders = LoaderIterators(parts)
        self.begin()

    def begin(self) -> None:
        """Begin anew, in a process that was forked."""
        self._lock = new_lock()
        self._kernel_calls: Counter[str] = Counter()
        self._fakeless: dict[str, CalledFunction] = {}
        self._aliases: Counter[tuple[str, int, str, str]] = Counter()
        self._kept: Counter[tuple[str, int, str, str, str, str, str]] = Counter()
        self._waits: Counter[tuple[str, int, str, str]] = Counter()
        self._waited: Counter[tuple[str, int, str, str]] = Counter()

    def install(self, patches: Patches) -> None:
        """Replace what no call shows."""
        self._loaders.install(patches)

    def on_kernel(self, called: CalledFunction, args: Sequence[Any], result: Any) -> None:
        """The kernel of an op has returned."""
        with self._lock:
            count = self._kernel_calls[called.op_type] = self._kernel_calls[called.op_type] + 1
        if not count & (count - 1):             # the 1st, 2nd, 4th ...: it may get a fake later
            self._look_for_fake(called)
        results = result if isinstance(result, (list, tuple)) else (result,)
        memory = {self._memory(value): name for value, name in zip(args, called.parameters, strict=False)
                  if isinstance(value, self._tensor)}
        for value in results:
            if isinstance(value, self._tensor) and (address := self._memory(value)) and (
                    name := memory.get(address)) and not self._may_alias(called.op_type):
                self._count(self._aliases, (*called.place, called.op_type, name))

    def on_node(self, called: CalledFunction, node: Any, args: Sequence[Any], result: Any) -> None:
        """A function with a gradient has returned; what its `ctx` keeps is in the node."""
        outputs = result if isinstance(result, (list, tuple)) else (result,)
        for kept in context_tensors(node, self._tensor, args, outputs, self._memory):
            self._count(self._kept, (*called.place, called.name, *kept))

    def on_read(self, tensor: Any, result: Any, name: str, line: Frame, took: int) -> None:
        """The program has read elements of a tensor: a device ends what was started there before it gives them."""
        device, result_device = (getattr(getattr(value, 'device', None), 'type', 'cpu') for value in (tensor, result))
        if device in _UNAWAITED or result_device != 'cpu':      # `to` may leave a tensor where it is
            return
        key = line.filename, line.line, name, str(device)
        self._count(self._waits, key)
        with self._lock:
            self._waited[key] += took

    def facts(self) -> Iterator[Fact]:
        """All facts so far."""
        yield Fact('torch', data={'version': self._parts.version})
        yield from self._loaders.facts()
        yield from self.work_facts()

    def work_facts(self) -> Iterator[Fact]:
        """The facts about what the process itself has computed since `begin`."""
        with self._lock:
            aliases, kept, waits, waited = dict(self._aliases), dict(self._kept), dict(self._waits), dict(self._waited)
        for (filename, line, op, name), count in aliases.items():
            yield Fact('torch alias', 0, filename, line, {'op': op, 'input': name, 'count': count})
        for (filename, line, function, name, within, container, role), count in kept.items():
            yield Fact('torch kept', 0, filename, line, {'function': function, 'attribute': name, 'within': within,
                                                         'container': container, 'role': role, 'count': count})
        for (filename, line, name, device), count in waits.items():
            yield Fact('torch waits', 0, filename, line, {'function': name, 'device': device, 'count': count,
                                                          'waited': waited[filename, line, name, device]})
        yield from self._missing_fakes()

    def _missing_fakes(self) -> Iterator[Fact]:
        """The ops that were called and tell no shapes to `torch.compile`."""
        custom_ops = dict(self._parts.custom_ops.OPDEFS)
        for name, op in custom_ops.items():
            watched = [kernel for kernel in op._backend_fns.values() if hasattr(kernel, WATCHED)]
            called = getattr(watched[0], WATCHED).called if watched else None
            needs_fake = op._abstract_fn is None and not getattr(op, '_is_inplace', False)
            if called is not None and called.was_called and needs_fake:
                yield _missing_fake(called, name, f'{called.name}.register_fake')
        with self._lock:
            fakeless = [(name, called) for name, called in self._fakeless.items() if name not in custom_ops]
        for name, called in fakeless:
            yield _missing_fake(called, name, f"torch.library.register_fake('{name}')")

    def _look_for_fake(self, called: CalledFunction) -> None:
        """Note whether an op of a library has a kernel for shapes. Asked at a call: at the exit the library is gone."""
        has_kernel: Any = getattr(self._parts.native, '_dispatch_has_kernel_for_dispatch_key', None)
        overloads = self._overloads(called.op_type)
        if has_kernel is not None and overloads:
            has_fake = any(has_kernel(overload, key) for overload in overloads for key in _SHAPE_KEYS)
            with self._lock:
                self._fakeless.pop(called.op_type, None)
                if not has_fake:
                    self._fakeless[called.op_type] = called

    def _overloads(self, op: str) -> list[str]:
        """The names of an op's overloads."""
        return [f'{op}.{schema.overload_name}' if schema.overload_name else op
                for schema in self._parts.native._jit_get_schemas_for_operator(op)]

    def _count(self, counter: Counter[Any], key: tuple[Any, ...]) -> None:
        with self._lock:
            if len(counter) < _MOST:
                counter[key] += 1

    def _may_alias(self, op: str) -> bool:
        """Whether the schema of an op says that it returns memory of an input."""
        return any(result.alias_info is not None for schema in self._parts.native._jit_get_schemas_for_operator(op)
                   for result in schema.returns)

    def _memory(self, tensor: Any) -> int:
        """The address of a tensor's elements; 0 if it has none."""
        try:
            return int(tensor.untyped_storage().data_ptr())
        except (RuntimeError, NotImplementedError):
            return 0


def _missing_fake(called: CalledFunction, op: str, register: str) -> Fact:
    filename, line = called.place
    return Fact('torch no fake', 0, filename, line, {'op': op, 'register': register})
