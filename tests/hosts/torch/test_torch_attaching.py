"""Attaching to PyTorch and detaching: what is replaced is put back, and a PyTorch that is not whole runs unwatched."""
from __future__ import annotations

from typing import Any

import pytest
from seen_calls import Seen

import pyfuncdbg
from pyfuncdbg.errors import AttachError
from pyfuncdbg.hosts.torch.torch_parts import parts

pytestmark = pytest.mark.torch


def places(torch: Any) -> dict[tuple[str, str], int]:
    """Everything of PyTorch that attaching replaces."""
    from torch._library import custom_ops
    owners = [torch.autograd, torch.autograd.graph, torch.autograd.function.Function,
              torch.autograd.function._SingleLevelFunction, torch.autograd.function.BackwardCFunction, torch.library.Library,
              torch.nn.Module, torch.Tensor, custom_ops.CustomOpDef]
    return {(str(owner), name): id(value) for owner in owners for name, value in vars(owner).items()}


def test_detach_puts_back_every_attribute(torch: Any) -> None:
    before = places(torch)
    with pyfuncdbg.attach('torch'):
        assert places(torch) != before
    assert places(torch) == before


def test_a_private_name_that_is_missing_is_told_and_nothing_is_changed(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    before = places(torch)
    monkeypatch.delattr(torch.autograd.graph, '_engine_run_backward')
    with pytest.raises(AttachError, match=r'torch.autograd.graph has no _engine_run_backward'):
        pyfuncdbg.attach('torch')
    monkeypatch.undo()
    assert places(torch) == before
    pyfuncdbg.attach('torch').detach()


def test_an_older_version_is_refused(torch: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch, '__version__', '2.3.1+cpu')
    with pytest.raises(AttachError, match=r'PyTorch 2.3.1\+cpu is not supported, expected 2.7 or newer'):
        parts()


def test_a_detached_pytorch_makes_no_calls(torch: Any, seen: Seen) -> None:
    class Twice(torch.autograd.Function):
        @staticmethod
        def forward(ctx: Any, x: Any) -> Any:
            return x * 2
    apply = Twice.apply
    apply(torch.ones(2))
    pyfuncdbg.detach('torch')
    apply(torch.ones(2))
    assert seen.names == ['Twice']
