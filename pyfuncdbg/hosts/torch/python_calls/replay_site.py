"""Sites for replays: calls of a recorded function as PyTorch makes them, without PyTorch. On the thread of a command."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pyfuncdbg.hooks.call import CallSite
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.called_function import BACKWARD
from pyfuncdbg.hosts.torch.python_calls.nested_results import unfold
from pyfuncdbg.hosts.torch.torch_parts import TorchParts


def install_replay(parts: TorchParts, host: TorchHost) -> None:
    """Let a host make such sites."""
    def replay_site(op_type: str, function: Callable[..., Any], types: Sequence[str], is_node: bool,
                    is_gradient: bool) -> CallSite:
        if is_gradient or op_type.endswith(BACKWARD):
            raise ValueError('what forward had kept for backward is not in a trace')

        def again(inputs: list[Any]) -> Sequence[Any]:
            tensors = [host.tensor_like(value) for value in inputs]
            with parts.torch.no_grad():
                return unfold(function(*tensors))
        return CallSite(op_type, op_type, 'python', host, function=function, attrs={'_call': again})
    host.replay_site = replay_site
