"""`pyfuncdbg.debug(model)`: a card before each call of a module, and the table of its tensors after it."""
from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from ui.prompt.pseudo_terminal import Terminal

import pyfuncdbg
from pyfuncdbg.errors import CommandError

pytestmark = [pytest.mark.torch, pytest.mark.timeout(200)]

PROGRAM = '''
import pickle, torch, pyfuncdbg
from torch import nn
model = nn.Sequential(nn.Linear(3, 2), nn.ReLU())
assert pyfuncdbg.debug(model) is model
model = torch.compile(model, backend='eager') if COMPILED else model
other = nn.Linear(3, 3)
for step in range(4):
    x = torch.ones(4, 3) * (float('nan') if step == 2 else 1)
    print('step', step, model(other(x)).isnan().any().item())
'''


def terminal(folder: Path, compiled: bool) -> Terminal:
    (folder / 'program.py').write_text(PROGRAM.replace('COMPILED', str(compiled)))
    return Terminal(folder, 'program.py', timeout=100)


@pytest.mark.usefixtures('op_modes')
def test_a_card_before_each_call_and_the_tensors_after_it(tmp_path: Path) -> None:
    with terminal(tmp_path, compiled=False) as user:
        shown = user.prompt()
        assert '(1st of Sequential)' in shown and 'float32 [4, 3]' in shown and 'nodes' not in shown
        shown = user.type('run', 'done after', '0/addmm:0', '1/relu:0')
        assert 'Linear' not in shown            # the other module is not debugged
        user.type('run', 'step 0 False', '(2nd of Sequential)')
        user.type('run -n', 'step 1 False', '(3rd of Sequential)')
        shown = user.type('run -f has_nan', 'tensors found', 'passed has_nan', '0/addmm:0')
        user.type('run', 'step 2 True', '(4th of Sequential)')
        user.last('quit', 'step 3 False')
        assert user.end() == 0


def test_without_ops_the_card_has_inputs_and_results(tmp_path: Path) -> None:
    with terminal(tmp_path, compiled=False) as user:
        assert '(1st of Sequential)' in user.prompt()
        shown = user.type('run', 'done after', 'Sequential:0')
        assert 'input ' in shown and 'Linear' not in shown
        user.type('run', 'step 0 False', '(2nd of Sequential)')
        user.last('quit', 'step 3 False')
        assert user.end() == 0


def test_run_t_goes_on_over_several_calls(tmp_path: Path) -> None:
    with terminal(tmp_path, compiled=False) as user:
        user.prompt()
        shown = user.type('run -t 3', 'step 0 False', 'step 1 False', '(3rd of Sequential)', 'done')
        assert 'step 2' not in shown
        user.last('quit', 'step 3 False')


def test_a_compiled_module_is_the_one_that_it_was_made_of(tmp_path: Path) -> None:
    with terminal(tmp_path, compiled=True) as user:
        user.prompt()
        user.type('run', '1st of Sequential', 'done after', 'Sequential:0')
        user.last('quit', 'step 3 False')


def test_it_is_the_same_object_and_is_forgotten_with_it(torch: Any) -> None:
    from pyfuncdbg.observers.debug.debugger import debugger
    try:
        model = torch.nn.Linear(2, 2)
        assert pyfuncdbg.debug(model, ui='none') is model
        assert debugger.runs.has_objects
        model(torch.ones(1, 2))
        del model
        assert not debugger.runs.has_objects
    finally:
        debugger.leave()
        pyfuncdbg.detach('torch')


def test_a_debug_session_says_what_is_for_modules(torch: Any) -> None:
    with pytest.raises(CommandError, match=r'this is a Linear, and pyfuncdbg.debug\(\) takes functions and modules'):
        pyfuncdbg.DebugSession(torch.nn.Linear(1, 1))
