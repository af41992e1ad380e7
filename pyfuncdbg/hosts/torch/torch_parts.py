"""Modules of the imported PyTorch that the host uses, with a check that each private name is there.

Looked up once by the attachment. Nothing here imports PyTorch.
"""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pyfuncdbg.hosts.interception.imported_framework import imported_framework

OLDEST, NEWEST = (2, 7), (2, 14)


@dataclass(frozen=True, slots=True, eq=False)
class TorchParts:
    """Modules of PyTorch, by the names under which it imports them itself.

    Attributes:
        version: PyTorch's.
        torch: The package.
        native: Its C++ functions.
        functions: `autograd.Function` and its backward node.
        graph: Nodes of the autograd graph, and the start of a pass.
        autograd: `backward` and `grad`.
        custom_ops: `custom_op`.
        library: `Library`.
        modules: `nn.Module`.
        handles: Handles of hooks.
        compiler: Whether a program is being compiled.
        modes: Modes that see calls of PyTorch's functions.
        optimizers: `Optimizer`.
        fetchers: What a DataLoader fetches with.
        loaders: Iterators of DataLoaders.
        workers: The loop of its worker processes.
        dispatch: Modes that see ops.
    """

    version: str
    torch: Any
    native: Any
    functions: Any
    graph: Any
    autograd: Any
    custom_ops: Any
    library: Any
    modules: Any
    handles: Any
    compiler: Any
    modes: Any
    optimizers: Any
    fetchers: Any
    loaders: Any
    workers: Any
    dispatch: Any


_MODULES = {
    'torch': ('torch', 'Tensor float32 default_generator is_grad_enabled'),
    'native': ('torch._C', 'TensorBase _FunctionBase DisableTorchFunction _DisableTorchDispatch _len_torch_function_stack '
                           '_len_torch_dispatch_stack _are_functorch_transforms_active _get_dispatch_mode '
                           '_TorchDispatchModeKey _jit_get_schemas_for_operator _current_autograd_node _to_dlpack '
                           '_dispatch_has_kernel_for_dispatch_key _current_graph_task_id'),
    'functions': ('torch.autograd.function', 'Function FunctionCtx _SingleLevelFunction BackwardCFunction'),
    'graph': ('torch.autograd.graph', '_engine_run_backward'),
    'autograd': ('torch.autograd', '_engine_run_backward _get_sequence_nr backward grad'),
    'custom_ops': ('torch._library.custom_ops', 'CustomOpDef OPDEFS'),
    'library': ('torch.library', 'Library'),
    'modules': ('torch.nn.modules.module', 'Module'),
    'handles': ('torch.utils.hooks', 'RemovableHandle'),
    'compiler': ('torch.compiler', 'is_compiling is_dynamo_compiling'),
    'modes': ('torch.overrides', 'TorchFunctionMode _push_mode _pop_mode'),
    'optimizers': ('torch.optim.optimizer', 'Optimizer'),
    'fetchers': ('torch.utils.data._utils.fetch', '_MapDatasetFetcher _IterableDatasetFetcher'),
    'loaders': ('torch.utils.data.dataloader', '_BaseDataLoaderIter _MultiProcessingDataLoaderIter'),
    'workers': ('torch.utils.data._utils.worker', '_worker_loop _worker_info'),
    'dispatch': ('torch.utils._python_dispatch', 'TorchDispatchMode _push_mode _pop_mode'),
}
_MEMBERS = {
    ('functions', 'Function'): 'apply forward backward setup_context',
    ('functions', 'BackwardCFunction'): 'apply',
    ('custom_ops', 'CustomOpDef'): 'register_kernel register_autograd',
    ('library', 'Library'): 'impl',
    ('modules', 'Module'): '__call__ _call_impl _wrapped_call_impl register_forward_hook register_forward_pre_hook '
                           'register_full_backward_hook register_full_backward_pre_hook',
    ('fetchers', '_MapDatasetFetcher'): 'fetch',
    ('fetchers', '_IterableDatasetFetcher'): 'fetch',
    ('loaders', '_BaseDataLoaderIter'): '__next__ _next_index',
    ('torch', 'Tensor'): 'register_hook register_post_accumulate_grad_hook backward',
}
"""What a class has to have, by the name of its module and its own."""


def parts() -> TorchParts:
    """The parts of the PyTorch that this process has imported.

    Raises:
        AttachError: None is imported, or it is of another version or not complete.
    """
    framework = imported_framework('torch', 'PyTorch', OLDEST, NEWEST, tries_newer=True)
    return TorchParts(version=framework.version, **framework.modules(_MODULES, _MEMBERS))
