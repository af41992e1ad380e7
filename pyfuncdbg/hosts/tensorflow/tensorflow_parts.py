"""Modules of the imported TensorFlow that the host uses, with a check of its version.

Looked up once by the attachment. Nothing here imports TensorFlow.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hosts.interception.imported_framework import imported_framework

OLDEST, NEWEST = (2, 18), (2, 21)


@dataclass(frozen=True, slots=True, eq=False)
class TensorFlowParts:
    """Modules of TensorFlow, by the names under which it imports them itself.

    Attributes:
        version: TensorFlow's.
        scripts: `script_ops`: the registry of wrapped functions, and the constructors of their nodes.
        context: Eager or graph mode.
        core: Converts a failed status to an exception.
        errors: The exceptions.
        ops: Graphs, tensors, nodes.
        conversion: AutoGraph's conversion of functions, and its wrapper for functions that are not converted.
        stacks: The stack under which a node is made.
        session: `Session`.
        record: Whether a tape may be recording.
        tape: The `GradientTape`, and the gradient of an op.
        tapes: Begin and end of tapes of any kind.
        passes: The backward pass of a tape.
        slices: Sums of gradients that are rows of a table.
        callbacks: Callbacks after each op.
        execute: Execution of ops without a fast path.
        native: C++ functions for Python.
        custom: `tf.custom_gradient`.
        gradients: `tf.gradients`.
        functions: Calls of traced functions.
        tracing: Keys of traced functions.
        caches: Caches of traced functions.
        saving: The writer of SavedModels.
        registry: The definitions of ops, by name.
        attrs: Attributes of nodes, as protocol buffers.
        dtypes: Types of tensors.
    """

    version: str
    scripts: Any
    context: Any
    core: Any
    errors: Any
    ops: Any
    conversion: Any
    stacks: Any
    session: Any
    record: Any
    tape: Any
    tapes: Any
    functions: Any
    passes: Any
    slices: Any
    callbacks: Any
    execute: Any
    native: Any
    tracing: Any
    caches: Any
    attrs: Any
    dtypes: Any
    custom: Any
    gradients: Any
    saving: Any
    registry: Any


_MODULES = {
    'scripts': ('tensorflow.python.ops.script_ops', 'FuncRegistry EagerFunc _py_funcs _internal_py_func py_func_common '
                                                    'tape_cache'),
    'context': ('tensorflow.python.eager.context', 'executing_eagerly eager_mode context _context'),
    'core': ('tensorflow.python.eager.core', '_status_to_exception'),
    'errors': ('tensorflow.python.framework.errors_impl', 'OpError'),
    'ops': ('tensorflow.python.framework.ops', 'Graph get_default_graph EagerTensor convert_to_tensor _create_c_op'),
    'conversion': ('tensorflow.python.autograph.impl.api', 'do_not_convert _convert_actual'),
    'stacks': ('tensorflow.python.util.tf_stack', 'StackTraceFilter SentinelFilter _source_filter_stacks'),
    'session': ('tensorflow.python.client.session', 'BaseSession'),
    'record': ('tensorflow.python.eager.record', 'could_possibly_record stop_recording record_operation '
                                              'record_operation_backprop_only'),
    'functions': ('tensorflow.python.eager.polymorphic_function.atomic_function', 'InterpolateRuntimeError AtomicFunction '
                  'from_func_graph'),
    'tape': ('tensorflow.python.eager.backprop', 'GradientTape _gradient_function gen_math_ops'),
    'tapes': ('tensorflow.python.eager.tape', 'Tape push_new_tape push_tape pop_tape'),
    'passes': ('tensorflow.python.eager.imperative_grad', 'imperative_grad'),
    'slices': ('tensorflow.python.eager.backprop_util', 'AggregateIndexedSlicesGradients IsTrainable'),
    'callbacks': ('tensorflow.python.framework.op_callbacks', 'add_op_callback remove_op_callback'),
    'execute': ('tensorflow.python.eager.execute', 'execute quick_execute execute_with_callbacks'),
    'gradients': ('tensorflow.python.ops.gradients_util', '_GradientsHelper _LogOpGradients'),
    'custom': ('tensorflow.python.ops.custom_gradient', '_eager_mode_decorator'),
    'tracing': ('tensorflow.python.eager.polymorphic_function.function_context', 'make_function_context '
                                                                                 '_enclosing_xla_context'),
    'caches': ('tensorflow.core.function.polymorphism.function_cache', 'FunctionCache'),
    'dtypes': ('tensorflow.python.framework.dtypes', 'as_dtype'),
    'attrs': ('tensorflow.core.framework.attr_value_pb2', 'AttrValue'),
    'registry': ('tensorflow.python.framework.op_def_registry', 'get'),
    'saving': ('tensorflow.python.saved_model.save', '_build_meta_graph'),
    'native': ('tensorflow.python.pywrap_tfe', 'TFE_Py_RegisterGradientFunction'),
}


def parts() -> TensorFlowParts:
    """The parts of the TensorFlow that this process has imported.

    Raises:
        AttachError: None is imported, or it is of another version or not complete.
    """
    framework = imported_framework('tensorflow', 'TensorFlow', OLDEST, NEWEST)
    return TensorFlowParts(framework.version, **framework.modules(_MODULES, {}))
