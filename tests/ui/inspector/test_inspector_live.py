"""The panes at the stops of a program that runs, over a real command socket."""
from __future__ import annotations

import asyncio

from inspecting import drive, inspector, opened, press, screen, send, type_line, until
from listening import Program

from pyfuncdbg.ui.inspector.desks.live_program import LiveDesk
from pyfuncdbg.ui.prompt.connecting.connection import Connection

SOURCE = '''
import sys, time
import numpy as np
from pyfuncdbg import tf

def norm(x, eps):
    mu = x.mean()
    sd = x.std()
    print('mean', float(mu))
    return ((x - mu) / (sd + eps)).astype(np.float32)

graph = tf.Graph()
with graph.as_default():
    a = tf.compat.v1.placeholder(tf.float32, [3], name='a')
    b = tf.numpy_function(norm, [a, np.float32(0)], tf.float32, name='norm')
    c = tf.multiply(b, 2., name='c')
with tf.compat.v1.Session(graph=graph) as session:
    for step in range(int(sys.argv[1])):
        session.run(c, {a: np.arange(3, dtype=np.float32) * step})
        time.sleep(0.02)
'''


def desk_of(program: Program) -> LiveDesk:
    return LiveDesk(Connection(str(program.socket)))


def test_the_panes_follow_a_program_from_stop_to_stop(tmp_path) -> None:
    async def test() -> None:
        with Program(tmp_path, source=SOURCE) as program:
            async with opened(desk_of(program), (160, 50)) as pilot:
                assert 'RUNNING' in screen(pilot).split('\n')[0]
                await press(pilot, 'b')
                assert inspector(pilot).query_one('#line').value == 'break '
                await press(pilot, *'norm', 'enter')
                shown = await until(pilot, 'STOPPED before norm', 'x float32[3]')
                lines = [' '.join(line.replace('│', ' ').split()) for line in shown.split('\n')]
                assert any(line.startswith('* a feed') for line in lines)
                assert any(line.startswith('> norm PyFunc ...') for line in lines)
                assert any(line.startswith('. c Mul -') for line in lines)
                assert 'def norm(x, eps):' in shown and 'graph  run #' in shown
                await type_line(pilot, 'clear 1')
                await press(pilot, 'escape', 's')
                await until(pilot, 'STOPPED norm at ', '(step)', '>  7     mu = x.mean()', 'mu not set yet')
                await press(pilot, 'n')
                shown = await until(pilot, '>  8     sd = x.std()', 'sd not set yet')
                line = next(line for line in shown.split('\n') if 'mu = x.mean()' in line)
                assert 'mu = ' in line.split('x.mean()')[1] and 'float32' in line.split('x.mean()')[1]
                await press(pilot, 'n', 'n')
                await until(pilot, '> 10     return', 'mean')
                await press(pilot, 'u')
                await until(pilot, '> node norm  PyFunc', 'eps')
                assert '> 10     return' not in screen(pilot)
                await press(pilot, 'd')
                await until(pilot, '> 10     return', 'sd = ')
                shown = await type_line(pilot, 'p x + eps')
                assert not inspector(pilot).result.here and 'float32' in shown and 'STOPPED' in shown
                await press(pilot, 'p')
                assert inspector(pilot).query_one('#line').value == 'p '
                await press(pilot, *'mu', 'space', *'* 0', 'enter')
                assert '0.0' in screen(pilot).split('\n')[-3] or '0.0' in screen(pilot)
                await press(pilot, 'N')
                await until(pilot, 'STOPPED before node c (node)', '> c ')
                await press(pilot, 'c')
                await until(pilot, 'RUNNING')
                assert program.process.poll() is None
    drive(test)


def test_a_program_that_ends_or_is_killed_is_told_of(tmp_path) -> None:
    async def test() -> None:
        with Program(tmp_path, source=SOURCE) as program:
            async with opened(desk_of(program)) as pilot:
                program.process.kill()
                await until(pilot, 'killed')
                assert 'gone' in await type_line(pilot, 'bt')
                assert pilot.app.is_running
    drive(test)


def test_a_command_is_broken_off_in_the_program(tmp_path) -> None:
    async def test() -> None:
        with Program(tmp_path, source=SOURCE) as program:
            async with opened(desk_of(program)) as pilot:
                await type_line(pilot, 'break norm')
                await until(pilot, 'STOPPED')
                inspector(pilot).run_line('[0 for _ in iter(int, 1)]')          # has no end
                await asyncio.sleep(0.5)
                send(pilot, 'ctrl+c')
                await until(pilot, 'interrupted')
                assert '3' in await type_line(pilot, 'p 1 + 2') and 'STOPPED' in screen(pilot)
    drive(test)
