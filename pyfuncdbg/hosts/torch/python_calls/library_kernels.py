"""Calls of the Python kernels of a `torch.library.Library`, registered while PyTorch is attached."""
from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

from pyfuncdbg.hooks.traits import Traits
from pyfuncdbg.hosts.interception.patching import Patches
from pyfuncdbg.hosts.interception.traceback_frames import drop_leading_own_frames
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.called_function import CalledFunction
from pyfuncdbg.hosts.torch.python_calls.custom_ops import mark_kernel_wrappers
from pyfuncdbg.hosts.torch.python_calls.gradient_links import GradientLinks
from pyfuncdbg.hosts.torch.python_calls.nested_arguments import NestedArguments
from pyfuncdbg.hosts.torch.python_calls.nested_results import unfold
from pyfuncdbg.hosts.torch.python_calls.python_calls import PythonCalls
from pyfuncdbg.hosts.torch.python_calls.watched_function import WatchedFunction, program_function, watched_kernel
from pyfuncdbg.hosts.torch.torch_parts import TorchParts

_WITHOUT_VALUES = ('Meta', 'Functionalize', 'Autograd', 'FuncTorch', 'Python', 'Autocast', 'AutocastCPU', 'AutocastCUDA',
                   'BackendSelect', 'ADInplaceOrView', 'PreDispatch')
"""How dispatch keys begin whose kernels see no values, or call the kernel of a device again."""


class LibraryKernels:
    """Replacer of the functions that `Library.impl` registers."""

    def __init__(self, parts: TorchParts, host: TorchHost, calls: PythonCalls, links: GradientLinks) -> None:
        self._parts = parts
        self._host = host
        self._calls = calls
        self._links = links

    def install(self, patches: Patches) -> None:
        """Watch the kernels that are registered from now on."""
        library = self._parts.library.Library
        patches.replace(library, 'impl', self._replace_impl(library.impl))

    def _replace_impl(self, original: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(original)
        def impl(library: Any, op_name: Any, fn: Any, dispatch_key: Any = '', **options: Any) -> Any:
            try:
                kernel = fn if options.get('with_keyset') else self._watched(library, op_name, fn, dispatch_key)
                return original(library, op_name, kernel, dispatch_key, **options)
            except BaseException as error:
                drop_leading_own_frames(error)
                raise
        return impl

    def _watched(self, library: Any, op_name: Any, kernel: Any, key: Any) -> Any:
        """The kernel that is registered instead; the same one where it is not the program's."""
        key = key or getattr(library, 'dispatch_key', '')
        function = program_function(kernel)
        if function is None or not isinstance(key, str) or key.startswith(_WITHOUT_VALUES):
            return kernel
        name = str(op_name).rpartition('::')[2].split('.')[0]
        mark_kernel_wrappers(kernel)
        called = CalledFunction(name, f'{library.ns}::{name}', function, self._host, replaceable=True,
                                call_again=partial(self._call_again, kernel), traits=Traits(wraps_python=True))
        return watched_kernel(WatchedFunction(self._calls, called, kernel, self._links.note_op_call))

    def _call_again(self, kernel: Callable[..., Any], layout: NestedArguments | None, inputs: list[Any]) -> Sequence[Any]:
        """Call a kernel past all hooks."""
        tensors = [self._host.tensor_like(value) for value in inputs]
        positional, keywords = layout.arguments(tensors) if layout is not None else (tensors, {})
        with self._parts.torch.no_grad():
            return unfold(kernel(*positional, **keywords))
