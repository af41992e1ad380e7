"""Attaching to PyTorch and detaching: what is replaced is put back, and a PyTorch that is not whole runs unwatched."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from seen_calls import Seen
from torch_programs import Record, run_command

import pyfuncdbg
from pyfuncdbg.errors import AttachError
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.hosts.torch.torch_parts import parts
from pyfuncdbg.observers.record.recorder import Recorder
from pyfuncdbg.observers.record.trace import Trace

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


def test_modules_and_passes_run_in_functions_of_pytorch_alone_until_a_hook_is_there(torch: Any) -> None:
    plain = torch.nn.Module.__call__, torch.autograd._engine_run_backward, torch.Tensor.backward
    hook = Seen()
    with pyfuncdbg.attach('torch'):
        assert plain == (torch.nn.Module.__call__, torch.autograd._engine_run_backward, torch.Tensor.backward)
        hooks.add(hook)
        watched = torch.nn.Module.__call__, torch.autograd._engine_run_backward, torch.Tensor.backward
        assert not set(plain) & set(watched)
        hooks.remove(hook)
        assert plain == (torch.nn.Module.__call__, torch.autograd._engine_run_backward, torch.Tensor.backward)
        hooks.add(hook)
        assert watched == (torch.nn.Module.__call__, torch.autograd._engine_run_backward, torch.Tensor.backward)
        hooks.remove(hook)


def test_what_other_code_replaces_meanwhile_is_called_through_ours(torch: Any, monkeypatch: pytest.MonkeyPatch,
                                                                   tmp_path: Path) -> None:
    called: list[str] = []

    def wrapped(original: Any, name: str) -> Any:
        def wrapper(module: Any, *args: Any) -> Any:
            called.append(name)
            return original(module, *args)
        return wrapper
    model = torch.nn.Linear(2, 1)
    with pyfuncdbg.attach('torch'):
        monkeypatch.setattr(torch.nn.Module, '__call__', wrapped(torch.nn.Module.__call__, 'unwatched'))
        with Recorder(tmp_path / 'a.pfd') as recorder:
            model(torch.ones(2)).sum().backward()
            theirs = wrapped(torch.nn.Module.__call__, 'watched')
            torch.nn.Module.__call__ = theirs       # stays, above ours
            model(torch.ones(2)).sum().backward()
        assert torch.nn.Module.__call__ is theirs
        with Recorder(tmp_path / 'b.pfd') as again:
            model(torch.ones(2)).sum().backward()
    assert called == ['unwatched', 'watched', 'unwatched', 'watched', 'unwatched']
    for one, expected in (recorder, 2), (again, 1):
        with Trace.open(one.path) as trace:
            assert [run.label for run in trace.runs() if run.kind != 'eager'] == ['Linear', 'backward'] * expected


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


class Watched:
    """A program that attaches or detaches where it is, in the middle of a pass or of a module call."""

    def __init__(self, torch: Any, act: Any) -> None:
        class Acts(torch.autograd.Function):
            @staticmethod
            def forward(ctx: Any, x: Any) -> Any:
                return x * 2

            @staticmethod
            def backward(ctx: Any, g: Any) -> Any:
                act()
                return g * 2

        class Net(torch.nn.Module):
            def forward(self, x: Any) -> Any:
                return Acts.apply(x.exp())
        self.x = torch.tensor([0.0, 1.0], requires_grad=True)
        Net()(self.x).sum().backward()


def test_attaching_in_the_middle_of_a_pass(torch: Any) -> None:
    expected = Watched(torch, lambda: None).x.grad
    with pyfuncdbg.record() as recording:
        watched = Watched(torch, lambda: pyfuncdbg.attach('torch'))
        assert torch.equal(watched.x.grad, expected)
        assert torch.equal(Watched(torch, lambda: None).x.grad, expected)
    pyfuncdbg.detach('torch')
    with recording.trace() as trace:
        calls = trace.calls(kind='python')
        assert [call.site.name for call in calls] == ['Acts', 'Acts.backward']     # of the second program alone
        forward, backward = calls
        assert np.allclose(forward.inputs[0].to_numpy(), np.exp([0.0, 1.0]))
        assert np.array_equal(forward.outputs[0].to_numpy(), 2 * forward.inputs[0].to_numpy())
        assert backward.inputs[-1].to_numpy().tolist() == [1.0, 1.0]
        assert backward.outputs[0].to_numpy().tolist() == [2.0, 2.0]
        runs = [call.site.name for call in trace.calls(kind='run')]
        assert runs == ['Net', 'backward']


def test_detaching_in_the_middle_of_a_pass(torch: Any) -> None:
    from torch.overrides import _get_current_function_mode_stack
    before = places(torch)
    expected = Watched(torch, lambda: None).x.grad
    with pyfuncdbg.record() as recording, pyfuncdbg.attach('torch'):
        assert torch.equal(Watched(torch, lambda: pyfuncdbg.detach('torch')).x.grad, expected)
        assert torch.equal(Watched(torch, lambda: None).x.grad, expected)
    assert places(torch) == before
    assert _get_current_function_mode_stack() == []
    with recording.trace() as trace:
        assert [call.site.name for call in trace.calls(kind='python')] == ['Acts', 'Acts.backward']


def test_a_fork_after_attaching_records_too(record: Record) -> None:
    recorded = record('''
import os, sys, torch
class Twice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x): return x * 2
    @staticmethod
    def backward(ctx, g): return g * 2
x = torch.ones(2, requires_grad=True)
Twice.apply(x).sum().backward()
if (child := os.fork()) == 0:
    Twice.apply(x).sum().backward()
    print(x.grad.tolist(), flush=True)
    sys.exit()
os.waitpid(child, 0)
print(x.grad.tolist())
''')
    assert recorded.out == '[4.0, 4.0]\n[2.0, 2.0]\n'
    calls = recorded.trace.calls(kind='python')
    assert sorted((call.site.name, call.process) for call in calls) == sorted(
        (name, process) for name in ('Twice', 'Twice.backward') for process in {call.process for call in calls})
    assert len({call.process for call in calls}) == 2


def test_an_incomplete_version_runs_unwatched(record: Record, tmp_path: Any) -> None:
    recorded = record('''
import torch.autograd.graph as graph
print('runs')
''')
    assert recorded.out == 'runs\n'
    stand_in = tmp_path / 'torch'
    stand_in.mkdir()
    (stand_in / '__init__.py').write_text("__version__ = '2.99.0'\n")
    (tmp_path / 'uses.py').write_text('import torch; print(torch.__version__)\n')
    done = run_command('run', '--record', 'unwatched.pfd', 'uses.py', cwd=tmp_path)
    assert done.stdout == '2.99.0\n'
    assert 'PyTorch 2.99.0 is not supported: torch has no Tensor. It runs unwatched.' in ' '.join(done.stderr.split())


def test_a_version_that_keeps_something_elsewhere_runs_unwatched(tmp_path: Any) -> None:
    """All names that are looked up are there, and an attribute of its objects is not."""
    (tmp_path / 'renames.py').write_text('''
import sys
from importlib.abc import MetaPathFinder
from importlib.machinery import PathFinder


class Renames(MetaPathFinder):
    """As if a later PyTorch had renamed an attribute of custom ops."""

    def find_spec(self, name, path=None, target=None):
        if name != 'torch._library.custom_ops':
            return None
        spec = PathFinder.find_spec(name, path)
        source = spec.loader.get_source(name).replace('_backend_fns', '_kernels_by_device')
        spec.loader.get_code = lambda name: compile(source, spec.origin, 'exec')
        return spec


sys.meta_path.insert(0, Renames())
import torch
print(float(torch.ones(3).sum()), torch.nn.Module.__call__.__module__)
''')
    done = run_command('run', 'renames.py', cwd=tmp_path)
    assert (done.returncode, done.stdout) == (0, '3.0 torch.nn.modules.module\n'), done.stderr
    said = ' '.join(done.stderr.split())
    assert 'cannot be watched: AttributeError: ' in said and '_backend_fns' in said and 'It runs unwatched.' in said


WITHOUT = '''
import sys
from importlib.abc import MetaPathFinder
class Missing(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name.partition('.')[0] == 'torch':
            raise ModuleNotFoundError("No module named 'torch'", name='torch')
sys.meta_path.insert(0, Missing())
import pyfuncdbg
pyfuncdbg.attach('torch')
'''


def test_attaching_without_pytorch(tmp_path: Any) -> None:
    done = subprocess.run([sys.executable, '-c', WITHOUT], capture_output=True, text=True, cwd=tmp_path, timeout=100,
                          env={**os.environ, 'PYTHONPATH': os.pathsep.join(sys.path)}, check=False)
    assert done.stderr.splitlines()[-1] == (
        'pyfuncdbg.errors.AttachError: cannot attach to torch: it is not installed. '
        "pip install 'pyfuncdbg[torch]' installs it")
