"""The commands of pdb, ipdb and tfdbg, typed at a terminal: each line of `habits` does here what it says."""
from __future__ import annotations

from pathlib import Path

import pytest
from ui.prompt.pseudo_terminal import Terminal

from pyfuncdbg.ui.commands.habits import HABITS
from pyfuncdbg.ui.commands.table import TABLE

PROGRAM = '''\
import numpy as np
from pyfuncdbg import tf

def norm(x, eps):
    """Scale by the sum."""
    total = 0.0
    for row in x:
        total += float(row.sum())
    config = {'total': total, 'eps': eps}
    return x / (total + eps)

g = tf.Graph()
with g.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [2, 3], name='a')
    b = tf.numpy_function(norm, [a, 1.0], tf.float32, name='norm')
    c = tf.add(b, 1., name='c')
with tf.compat.v1.Session(graph=g) as s:
    for i in range(4):
        s.run(c, {a: np.full((2, 3), float(i + 1), np.float32)})
print('end of the program')
'''

Trial = tuple[str, str, str, tuple[str, ...]]
"""Whose command, as in the table; what is typed; what is read then, in order."""

STEPS: tuple[Trial, ...] = (
    ('pdb', 'help, h, ?', 'h', ('COMMAND',)),
    ('pdb', 'args, a', 'a', ('eps',)),
    ('pdb', 'step, s', 's', ('habits.py:6',)),
    ('pdb', 'where, w, bt', 'w', ('node norm', 'in norm')),
    ('pdb', 'up, u', 'u', ('> node norm',)),
    ('pdb', 'down, d', 'd', ('in norm',)),
    ('pdb', 'list, l', 'l', ('total = 0.0',)),
    ('pdb', 'longlist, ll', 'll', ('return x',)),
    ('pdb', 'next, n', 'n', ('habits.py:7',)),
    ('pdb', 'until, unt', 'unt 8', ('habits.py:8',)),
    ('pdb', 'jump, j', 'j 7', ('habits.py:7',)),
    ('pdb', 'p', 'p total + 1', ('1.0',)),
    ('pdb', 'pp', 'pp [total, eps]', ('0.0',)),
    ('pdb', 'whatis', 'whatis norm', ('Function norm',)),
    ('pdb', 'source', 'source norm', ('def norm',)),
    ('pdb', '!', '!l = 5', ()),
    ('pdb', '!', '!l + 1', ('6',)),
    ('pdb', '$name = EXPR', '$mine = total + 7', ()),
    ('pdb', '$name = EXPR', 'p $mine', ('7.0',)),
    ('pdb', '$_exception, $_retval, $_frame', 'p $_frame.f_code.co_name', ('norm',)),
    ('pdb', '$_exception, $_retval, $_frame', 'p $_exception', ('there is none',)),
    ('pdb', 'display', 'display total', ('total',)),
    ('pdb', ';;', 'n ;; p eps', ('habits.py:8', '1.0')),
    ('pdb', 'display', 'n', ('display total', 'was')),
    ('pdb', 'undisplay', 'undisplay total', ('1 not displayed',)),
    ('pdb', 'break, b', 'b 9', ('breakpoint 2',)),
    ('pdb', 'break, b', 'b', ('2 breakpoints',)),
    ('pdb', 'condition', 'condition 2 total > 100', ('total > 100',)),
    ('pdb', 'disable', 'disable 2', ('disabled', 'off')),
    ('pdb', 'enable', 'enable 2', ('enabled',)),
    ('pdb', 'condition', 'condition 2', ('breakpoint 2 changed',)),
    ('pdb', 'ignore', 'ignore 2 0', ('breakpoint 2',)),
    ('pdb', 'commands', 'commands 2', ()),
    ('pdb', 'commands', 'p total * 3', ()),
    ('pdb', 'commands', 'end', ('1 command',)),
    ('pdb', 'continue, cont, c', 'c', ('breakpoint 2', '(pfd) p total * 3', '18.0')),
    ('pdb', 'clear, cl', 'cl 2', ('cleared',)),
    ('pdb', 'tbreak', 'tbreak 10', ('once',)),
    ('pdb', 'continue, cont, c', 'c', ('habits.py:10',)),
    ('pdb', 'return, r', 'r', ('after call 1',)),
    ('pdb', 'retval, rv', 'rv', ('norm:0',)),
    ('pdb', '$_exception, $_retval, $_frame', 'p $_retval.shape', ('(2, 3)',)),
    ('pdb', 'alias', 'alias tot p $mine + %1', ('tot = ',)),
    ('pdb', 'alias', 'tot 5', ('12.0',)),
    ('pdb', 'unalias', 'unalias tot', ('is removed',)),
    ('pdb', 'exceptions', 'exceptions', ('no exception was raised here',)),
    ('pdb', 'restart', 'restart', ("pdb's 'restart' is not there", "'retry'")),
    ('pdb', 'debug', 'debug norm(1)', ("pdb's 'debug' is not there", 'retry -i')),
    ('pdb', 'run', 'run', ('no run is debugged here',)),
    ('pdb', 'clear, cl', 'cl', ()),
    ('pdb', 'clear, cl', 'y', ('breakpoint 1 cleared',)),
    ('pdb', 'quit, q, exit', 'q', ('the program continues', '"abort" ends the run', 'end of the program')),
)

OTHERS: tuple[Trial, ...] = (
    ('ipdb', 'context', 'context 3', ('3 lines',)),
    ('tfdbg', 'invoke_stepper', 'invoke_stepper', ("before node 'c'",)),
    ('tfdbg', 'list_tensors, lt', 'lt', ('norm:0',)),
    ('tfdbg', 'print_tensor, pt', 'pt norm:0', ('float32 [2, 3]',)),
    ('tfdbg', '@[INDEX], @INDEX', '@1,0', ('[1,0] of norm:0',)),
    ('tfdbg', '@[INDEX], @INDEX', '@[0, :2]', ('[0, :2] of norm:0',)),
    ('tfdbg', 'print_feed, pf', 'pf', ('a:0',)),
    ('tfdbg', 'eval', 'eval `norm:0`.sum() * 0 + 5', ('5.0',)),
    ('tfdbg', 'node_info, ni', 'ni c', ('AddV2',)),
    ('tfdbg', 'list_inputs, li', 'li c', ('norm',)),
    ('tfdbg', 'list_outputs, lo', 'lo norm', ('c',)),
    ('tfdbg', 'list_source, ls', 'ls', ('habits.py',)),
    ('tfdbg', 'print_source, ps', 'ps habits.py', ('def norm',)),
    ('tfdbg', 'list_profile, lp', 'lp', ('norm',)),
    ('tfdbg', '>> FILE', 'lt >> out.txt', ('written to out.txt',)),
    ('tfdbg', 'run', 'run -f has_nan', ('no run is debugged here',)),
    ('tfdbg', 'run_info, ri', 'run_info', ("tfdbg's 'run_info' is not there", "'stop'")),
    ('tfdbg', 'inject_value', 'inject_value norm:0 3', ("tfdbg's 'inject_value' is not there", 'inject TENSOR EXPR')),
    ('tfdbg', 'ct', 'ct c', ("tfdbg's 'ct' is not there", 'to NODE')),
    ('tfdbg', '/regex', '/regex', ("tfdbg's '/regex' is not there",)),
    ('tfdbg', 'mouse, config', 'mouse on', ("tfdbg's 'mouse' is not there",)),
    ('tfdbg', 'run', 'c', ("before call 2 of node 'norm'",)),
    ('ipdb', 'NAME?', 's', ('habits.py:6',)),
    ('ipdb', 'NAME?', 'norm?', ('signature', 'Scale by the sum')),
    ('ipdb', 'NAME??', 'norm??', ('return x',)),
    ('ipdb', 'pinfo', 'pinfo norm', ('Scale by the sum',)),
    ('ipdb', 'pinfo2', 'pinfo2 norm', ('return x',)),
    ('ipdb', 'pdoc', 'pdoc norm', ('Scale by the sum',)),
    ('ipdb', 'pdef', 'pdef norm', ('(x, eps)',)),
    ('ipdb', 'psource', 'psource norm', ('def norm',)),
    ('ipdb', 'pfile', 'pfile norm', ("ipdb's 'pfile' is not there", "'pinfo' says")),
    ('ipdb', 'skip_hidden', 'skip_hidden on', ("ipdb's 'skip_hidden' is not there",)),
    ('ipdb', 'skip_predicates', 'skip_predicates', ("ipdb's 'skip_predicates' is not there",)),
    ('ipdb', '%timeit, timeit', '%timeit -n 10 -r 2 x.sum()', ('2 rounds of 10',)),
    ('pdb', 'interact', 'interact', ()),
)


def start(folder: Path) -> Terminal:
    (folder / 'habits.py').write_text(PROGRAM)
    return Terminal(folder, '-m', 'pyfuncdbg', 'run', '-q', '--break', 'norm', 'habits.py')


def carry_out(user: Terminal, trials: tuple[Trial, ...]) -> None:
    for _, _, line, wanted in trials:
        user.type(line, *wanted)


def test_pdbs(tmp_path: Path) -> None:
    with start(tmp_path) as user:
        user.until("before call 1 of node 'norm'")
        user.prompt()
        carry_out(user, STEPS[:-1])
        _, _, line, wanted = STEPS[-1]
        user.last(line, *wanted)
        assert user.end() == 0


def test_ipdbs_and_tfdbgs_and_ctrl_d(tmp_path: Path) -> None:
    with start(tmp_path) as user:
        user.until("before call 1 of node 'norm'")
        user.prompt()
        carry_out(user, OTHERS[:-1])
        user.child.send('interact\r')           # Python's own prompt, in which Ctrl-D goes back
        user.until('>>> ')
        user.child.send('x.shape\r')
        user.until('(2, 3)', '>>> ')
        user.child.send('\x04')
        user.prompt()
        user.child.send('\x04')                 # and here it is quit
        user.until('the program continues', '"abort" ends the run', 'end of the program')
        assert user.end() == 0
    assert 'norm:0' in (tmp_path / 'out.txt').read_text()


@pytest.mark.parametrize('habit', HABITS, ids=lambda habit: f'{habit.of} {habit.command}')
def test_every_line_of_the_table_is_tried(habit) -> None:
    tried = [line for of, theirs, line, _ in (*STEPS, *OTHERS) if (of, theirs) == (habit.of, habit.command)]
    assert tried or habit.command == 'Ctrl-D'
    names = set(TABLE.names)
    words = [word for word in habit.command.split(', ') if word.replace('_', '').isalpha() and word.islower()]
    assert {word in names for word in words} <= {habit.how != 'not there'}
    assert habit.equivalent.split()[0] in names or habit.how == 'same'
    assert bool(habit.why) == (habit.how != 'same')
