"""All objects of the program, frozen ones too. In processes of their own: to freeze concerns all that there is."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pyfuncdbg

PROGRAM = '''
import gc
import sys
import numpy as np
from pyfuncdbg.hooks.live_objects import find_objects

def counts():
    yield 1

class Kept:
    held = [(lambda: 1, {'deep': (lambda: 2,)})]

waiting = counts()
wanted = [counts, waiting, Kept, Kept.held[0][0], Kept.held[0][1]['deep'][0], np.linalg, sys.modules, find_objects]
kinds = {type(one) for one in wanted} | {list}
'''


def said(tmp_path: Path, program: str, *command: str, lines: str = '') -> str:
    script = tmp_path / 'program.py'
    script.write_text(program)
    environment = dict(os.environ, PYTHONPATH=str(Path(pyfuncdbg.__file__).parents[1]))
    done = subprocess.run([sys.executable, *command, str(script)], cwd=tmp_path, capture_output=True, text=True, timeout=60,
                          check=False, input=lines, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout + (done.stderr if lines else '')


def test_what_the_program_froze_is_among_them_once(tmp_path: Path) -> None:
    assert said(tmp_path, PROGRAM + '''
def missing(things):
    known = [id(thing) for thing in things]
    return len(known) - len(set(known)), [one for one in wanted if id(one) not in known]

print(missing(find_objects(*kinds)))
gc.freeze()
frozen = gc.get_freeze_count()
later = wanted[-1] = [lambda: 3]
print(len(missing(gc.get_objects())[1]) >= 7, missing(find_objects(*kinds)), gc.get_freeze_count() == frozen > 1000)
''') == '(0, [])\nTrue (0, []) True\n'


def test_freed_iterators_of_asyncio_are_not_taken_for_objects(tmp_path: Path) -> None:
    """Python up to 3.12.5 lists them as referents of a module; taken and dropped, each later collection was endless."""
    assert said(tmp_path, '''
import asyncio
import gc
from types import FunctionType
from pyfuncdbg.hooks.live_objects import find_objects

loop = asyncio.new_event_loop()
futures = [iter(loop.create_future()) for _ in range(5)]
del futures
gc.freeze()
found = [asyncio.run in find_objects(FunctionType) for _ in range(3)]
gc.collect()
print(found)
''') == '[True, True, True]\n'


def test_what_python_froze_at_its_start_is_not_searched_through(tmp_path: Path) -> None:
    """Python 3.12 does so, and a search from each object to the next takes ten times as long as a list of all."""
    assert said(tmp_path, '''
import gc
from types import FunctionType
from pyfuncdbg.hooks import live_objects

gc.get_freeze_count = lambda: 375
asked = []
gc.get_referents = asked.append
wanted = lambda: 1
print(wanted in live_objects.find_objects(FunctionType), asked)
''') == 'True []\n'


def test_a_line_of_a_function_that_was_frozen_stops(tmp_path: Path) -> None:
    """The breakpoint is set when the program has frozen all its functions, and the function is nobody's node."""
    shown = said(tmp_path, '''
import gc
from pyfuncdbg import tf

def inner(x):
    y = x + x
    return y

def twice(x):
    return inner(x)

graph = tf.Graph()
with graph.as_default():
    out = tf.numpy_function(twice, [tf.constant(1.25)], tf.float32, name='twice')
gc.freeze()
with tf.compat.v1.Session(graph=graph) as session:
    session.run(out)
''', '-m', 'pyfuncdbg', 'run', '--break', 'twice', lines='break program.py:7\ncont\np y\n')
    assert 'STOPPED in inner at program.py:7' in shown and 'float32 2.5' in shown


TUPLES = '''
import gc
import sys
import threading
from pyfuncdbg.hooks.live_objects import find_objects, referrers

class Kept:
    def method(self):
        return self

kept = Kept()
method = kept.method
errors, over = [], threading.Event()

def build():
    try:
        while not over.is_set():
            assert tuple(item for item in range(200))[199] == 199
            assert tuple(item for item in [kept] * 50)[49] is kept
    except BaseException as error:
        errors.append(error)

sys.setswitchinterval(1e-6)
threads = [threading.Thread(target=build) for _ in range(3)]
for thread in threads:
    thread.start()
'''


def test_tuples_that_threads_are_building_are_left_alone(tmp_path: Path) -> None:
    """A reference to such a tuple makes its thread fail: `SystemError: bad argument to internal function`."""
    assert said(tmp_path, TUPLES + '''
from types import MethodType
for _ in range(60):
    assert kept in find_objects(Kept)
    assert method in referrers(kept, MethodType)
gc.freeze()
for _ in range(3):
    assert kept in find_objects(Kept)
over.set()
for thread in threads:
    thread.join()
print(errors)
''') == '[]\n'


def test_classes_are_found_with_those_that_derive_from_them(tmp_path: Path) -> None:
    """A metaclass and an object that answer for themselves are not asked."""
    assert said(tmp_path, '''
from pyfuncdbg.hooks.live_objects import find_objects, class_and_subclasses

class Liar(type):
    def __subclasses__(cls):
        raise AssertionError('asked')
    def __eq__(cls, other):
        raise AssertionError('compared')
    def __instancecheck__(cls, thing):
        raise AssertionError('checked')

class Base(metaclass=Liar):
    @property
    def __class__(self):
        raise AssertionError('looked at')

class Left(Base): pass
class Right(Base): pass
class Both(Left, Right): pass

things = [Base(), Left(), Both(), Both()]
print(sorted(type(thing).__name__ for thing in find_objects(*class_and_subclasses(Base))), len(find_objects(Left)))
''') == "['Base', 'Both', 'Both', 'Left'] 1\n"
