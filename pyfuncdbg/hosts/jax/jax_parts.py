"""Modules of the imported JAX that the host uses, with a check of its version and of each private name.

Looked up once by the attachment. Nothing here imports JAX or starts its backend.
"""
from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

from pyfuncdbg.errors import AttachError
from pyfuncdbg.hosts.interception.imported_framework import imported_framework

OLDEST, NEWEST = (0, 6), (0, 12)


@dataclass(frozen=True, slots=True, eq=False)
class JaxParts:
    """Modules of JAX.

    Attributes:
        version: JAX's.
        release: The first two numbers of it.
        callback: `pure_callback` and `io_callback`.
        debugging: `debug.callback` and `debug.print`.
        derivatives: `custom_vjp` and `custom_jvp`.
        differentiation: Passes through programs, forward and back.
        debugger: The registry of debuggers for `debug.breakpoint`.
        execution: Executables and their dispatch from Python.
        compilation: `jit`.
        jit: The op that executes a compiled function.
        api: The hook after a dispatch from C++.
        effects: Tokens by which ordered callbacks wait for each other.
        backends: Starts the backends of XLA.
        array: The type of arrays.
        core: Programs and their ops.
        lowering: Rules by which ops are lowered.
        source_lines: Lines of the program behind ops.
        tracebacks: Filter of tracebacks.
        tree: Nested containers of arrays.
        errors: The exception that C++ raises.
        unset: The value of a thread's setting that follows that of all threads.
    """

    version: str
    release: tuple[int, int]
    callback: Any
    debugging: Any
    derivatives: Any
    differentiation: Any
    debugger: Any
    execution: Any
    compilation: Any
    jit: Any
    api: Any
    effects: Any
    backends: Any
    array: Any
    core: Any
    lowering: Any
    source_lines: Any
    tracebacks: Any
    tree: Any
    errors: Any
    unset: Any


_MODULES = {
    'callback': ('jax._src.callback', '_FlatCallback pure_callback_lowering io_callback_lowering '
                                        'emit_python_callback _callback_op_sharding'),
    'debugging': ('jax._src.debugging', 'debug_callback_p debug_callback_lowering debug_effect'),
    'derivatives': ('jax._src.custom_derivatives', 'custom_vjp custom_jvp'),
    'differentiation': ('jax._src.interpreters.ad', 'backward_pass'),
    'debugger': ('jax._src.debugger.core', 'register_debugger _debugger_registry'),
    'execution': ('jax._src.interpreters.pxla', 'ExecuteReplicated UnloadedMeshExecutable MeshExecutable '
                                                'lower_sharding_computation'),
    'compilation': ('jax._src.pjit', '_get_fastpath_data _cpp_pjit _pjit_call_impl_python'),
    'api': ('jax._src.api', 'jit'),
    'effects': ('jax._src.dispatch', 'runtime_tokens'),
    'backends': ('jax._src.xla_bridge', '_init_backend'),
    'array': ('jax._src.array', 'ArrayImpl'),
    'core': ('jax._src.core', 'Primitive Literal ShapedArray Tracer new_jaxpr_eqn eval_context'),
    'lowering': ('jax._src.interpreters.mlir', 'register_lowering'),
    'source_lines': ('jax._src.source_info_util', 'register_exclusion _exclude_paths'),
    'tracebacks': ('jax._src.traceback_util', 'register_exclusion _exclude_paths'),
    'tree': ('jax._src.tree_util', 'tree_leaves tree_flatten tree_unflatten tree_flatten_with_path keystr'),
    'errors': ('jax.errors', 'JaxRuntimeError'),
}
_MEMBERS = {
    ('array', 'ArrayImpl'): 'is_ready is_deleted _single_device_array_to_np_array_did_copy',
    ('execution', 'UnloadedMeshExecutable'): 'build_unsafe_call',
}
"""Attributes of classes that are used."""


def parts() -> JaxParts:
    """The parts of the JAX that this process has imported.

    Raises:
        AttachError: None is imported, or it is of another version or not complete.
    """
    framework = imported_framework('jax', 'JAX', OLDEST, NEWEST)
    modules = framework.modules(_MODULES, _MEMBERS)
    compilation = modules['compilation']
    jit = getattr(compilation, 'jit_p', None) or getattr(compilation, 'pjit_p', None)      # its name before 0.7
    if not hasattr(jit, 'impl'):
        raise AttachError(f'{framework.complaint}: {compilation.__name__} has no jit_p.impl')
    settings = sys.modules.get('jax._src.config')
    unset = getattr(getattr(settings, 'config_ext', None), 'unset', None)       # JAX before 0.7 has no such setting
    return JaxParts(framework.version, framework.release, jit=jit, unset=unset, **modules)
