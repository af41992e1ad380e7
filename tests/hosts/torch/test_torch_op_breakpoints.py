"""Breakpoints on ops by name: they stop before the op at the program's line, or say why none stopped."""
from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from scripted_user import ScriptedUser
from torch_programs import run_command

import pyfuncdbg
from pyfuncdbg.hooks.chain import hooks
from pyfuncdbg.observers.debug.breakpoints.never_hit import unhit_warnings
from pyfuncdbg.observers.debug.debugger import debugger
from pyfuncdbg.observers.debug.stops.stop import Stop

pytestmark = [pytest.mark.torch, pytest.mark.usefixtures('op_modes')]

PROGRAM = '''
import torch
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.fc = torch.nn.Linear(2, 2)
    def forward(self, x):
        return torch.relu(self.fc(x)) * 2
torch.manual_seed(0)
net, x = Net(), torch.ones(1, 2)
loss = (net(x) * 3).sum()
loss.backward()
print(loss.item())
'''


@pytest.fixture
def user(torch: Any) -> Iterator[ScriptedUser]:
    """A user who looks at the op and its first input at each stop."""
    def looked(stop: Stop) -> tuple[str, str, list[float]]:
        assert stop.call is not None
        return stop.phase, stop.call.site.name, stop.call.inputs[0].tolist()
    with pyfuncdbg.attach('torch'), ScriptedUser(line for _ in range(50) for line in (looked, 'cont')) as one:
        debugger.start()
        try:
            yield one
        finally:
            for number in list(debugger.breakpoints.entries):
                debugger.breakpoints.clear(number)
    assert not hooks.op


def looks(user: ScriptedUser) -> list[Any]:
    return [answer for answer in user.answers if isinstance(answer, tuple)]


@pytest.mark.parametrize('name', ['mul', 'aten.mul', 'aten::mul'])
def test_an_op_stops_before_it_runs(torch: Any, user: ScriptedUser, name: str) -> None:
    debugger.breakpoints.set(name)
    x = torch.tensor([1.0, 2.0])
    y = (x + 1) * 5
    assert [(phase, values) for phase, _, values in looks(user)] == [('before', [2.0, 3.0])]
    assert y.tolist() == [10.0, 15.0]


def test_one_of_several_sites_conditions_and_outputs(torch: Any, user: ScriptedUser) -> None:
    debugger.breakpoints.set('exp', 'inputs[0].max() > 2')
    debugger.breakpoints.set('sin[1]')
    debugger.breakpoints.set('cos', 'out[0] == 1')
    for value in (1.0, 2.0, 3.0):
        x = torch.tensor([value])
        x.exp()
        x.sin()
        (x - 2).cos()
    assert [(phase, values) for phase, _, values in looks(user)] == [
        ('before', [2.0]), ('after', [0.0]), ('before', [3.0])]


def test_the_op_of_another_thread_and_of_a_backward_pass(torch: Any, user: ScriptedUser) -> None:
    debugger.breakpoints.set('sigmoid_backward')
    debugger.breakpoints.set('tanh')
    x = torch.tensor([0.0], requires_grad=True)
    x.sigmoid().backward()
    thread = threading.Thread(target=lambda: torch.ones(1).tanh())
    thread.start()
    thread.join()
    assert [values for _, _, values in looks(user)] == [[1.0], [1.0]]
    assert looks(user)[0][1].endswith('/backward/sigmoid_backward')


def test_a_function_of_the_program_with_that_name_is_meant(torch: Any, user: ScriptedUser) -> None:
    @torch.library.custom_op('ours::scale', mutates_args=(), schema='(Tensor x) -> Tensor')
    def scale(x: Any) -> Any:
        return x * 2
    debugger.breakpoints.set('scale')
    debugger.breakpoints.set('ours::scale')
    assert not hooks.op
    assert scale(torch.ones(1)).tolist() == [2.0]
    assert user.phases == ['before']                    # at the Python function alone
    assert len(looks(user)) == 1


def test_nothing_is_watched_after_the_breakpoint_is_gone(torch: Any, user: ScriptedUser) -> None:
    from torch.utils._python_dispatch import _get_current_dispatch_mode
    number = debugger.breakpoints.set('mul').number
    assert hooks.op
    debugger.breakpoints.clear(number)
    assert not hooks.op
    assert _get_current_dispatch_mode() is None


@pytest.mark.parametrize(('name', 'reason'), [
    ('asinh', 'no op of that name ran; code that torch.compile has compiled fuses ops, and runs none by its name.'),
    ('linear', "PyTorch carries out 'linear' by other ops, which a recording with --ops names."),
    ('torch.nn.functional.linear', "PyTorch carries out 'linear' by other ops, which a recording with --ops names."),
    ('torch.mul', "'torch.mul' is a function of PyTorch's; its op is aten.mul."),
    ('no_such_op', 'nothing of that name ran.')])
def test_why_none_stopped(torch: Any, user: ScriptedUser, name: str, reason: str) -> None:
    number = debugger.breakpoints.set(name).number
    torch.nn.functional.linear(torch.ones(1, 1) * 2, torch.ones(1, 1))
    assert not user.stops
    assert unhit_warnings(debugger.breakpoints, [number]) == [f'breakpoint {number} ({name}) stopped nothing: {reason}']


def test_a_breakpoint_that_is_set_before_the_import(tmp_path: Path) -> None:
    (tmp_path / 'program.py').write_text(PROGRAM)
    done = run_command('run', '--break', 'fc/addmm', '--break', 'aten::mul', 'program.py', cwd=tmp_path,
                       typed='p inputs[1]\nn\nc\ninject mul:0 np.ones((1, 2), np.float32)\nc\nbreaks\nc\nc\nc\nc\n')
    assert 'created at program.py:8  return torch.relu(self.fc(x)) * 2' in done.stderr, done.stderr
    assert "STOPPED before call 1 of node 'fc/addmm'" in done.stderr
    assert "STOPPED after call 1 of node 'fc/addmm'" in done.stderr
    assert "STOPPED before call 1 of node 'mul_1'" in done.stderr
    assert 'STOPPED before call 1 of node \'mul/backward/mul\'' in done.stderr
    assert 'stopped nothing' not in done.stderr
