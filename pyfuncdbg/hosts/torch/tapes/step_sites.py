"""Sites of backward steps and of the leaves that a pass gives gradients to. On the thread of the pass."""
from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from pyfuncdbg.hooks.call import CallSite, Frame
from pyfuncdbg.hooks.traits import Traits, backward_step_traits
from pyfuncdbg.hosts.torch.host import TorchHost
from pyfuncdbg.hosts.torch.python_calls.autograd_functions import FUNCTION
from pyfuncdbg.hosts.torch.python_calls.gradient_links import CALL, ForwardCall

_MOST = 1 << 12
_NODE = re.compile(r'(?:torch::autograd::)?(.+?)Backward(?:_?\d*|For_.*)$')
_OWN = Traits(wraps_python=True, has_own_gradient=True)
PARAMETER, TENSOR = 'Parameter', 'Tensor'


class StepSites:
    """Maker of the sites; those of one line and op are one."""

    def __init__(self, host: TorchHost, parameter: type, line_of: Callable[[Any], Frame | None]) -> None:
        self._host = host
        self._parameter = parameter
        self._sites: dict[tuple[Any, ...], CallSite] = {}
        self._line_of = line_of

    def step_site(self, node: Any, slots: tuple[int, ...]) -> tuple[CallSite, int]:
        """The site of the step of a node, and the id of the call that it differentiates, 0 if it has none.

        Args:
            node: Of the gradient graph.
            slots: Outputs of its source calls that it sums, in their order.
        """
        node_name = node.name()
        forward: ForwardCall | None = node.metadata.get(CALL)
        line: Frame | None = forward.line if forward is not None and forward.line is not None else self._line_of(node)
        key = (node_name, slots, line) if forward is None else (node_name, slots, line, forward.name, forward.op_type)
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST:
                self._sites.clear()
            site = self._sites[key] = self._new_step_site(node, node_name, slots, line, forward)
        return site, forward.number if forward is not None else 0

    def _new_step_site(self, node: Any, node_name: str, slots: tuple[int, ...], line: Frame | None,
                       forward: ForwardCall | None) -> CallSite:
        match = _NODE.match(node_name)
        name = op_type = match[1] if match is not None else node_name
        traits = backward_step_traits(op_type)
        if forward is not None:
            name, op_type, traits = forward.name, forward.op_type, _OWN
        elif hasattr(node, '_forward_cls') and not node._forward_cls.__module__.startswith('torch.'):
            op_type, traits = FUNCTION, _OWN
        return CallSite(f'{name}_grad', op_type, 'gradient', self._host, stack=(line,) if line is not None else (),
                        attrs={'forward': name, 'slots': list(slots)}, traits=traits)

    def source_site(self, name: str, tensor: Any, slots: tuple[int, ...], attrs: dict[str, Any]) -> CallSite:
        """The site of the gradient of a leaf.

        Args:
            name: Of the leaf.
            tensor: The leaf.
            slots: As for a step.
            attrs: More attributes, such as the reason of a missing gradient.
        """
        kind = PARAMETER if isinstance(tensor, self._parameter) else TENSOR
        key = 'source', name, kind, slots, *attrs.items()
        site = self._sites.get(key)
        if site is None:
            if len(self._sites) > _MOST:
                self._sites.clear()
            described = {'forward': name, 'slots': list(slots), 'source': True, **attrs}
            site = self._sites[key] = CallSite(f'{name}_grad', kind, 'gradient', self._host, attrs=described,
                                               traits=backward_step_traits(kind))
        return site
