"""What a program imports under `pyfuncdbg run` and under plain Python: its own modules, where they shadow others."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.programs import run_script

ROOT = Path(run_script.__file__).resolve().parents[4]
LIBRARIES = {'numpy', 'rich', 'msgpack', 'xxhash', 'ml_dtypes', 'google', 'IPython', 'textual', 'pygments', 'pyte'}
NAMES = sorted((sys.stdlib_module_names | LIBRARIES) - {'__future__', 'antigravity', 'this'})
ALONE = ('json', 'argparse', 'dataclasses', 'threading', 'struct', 'importlib', 'numpy', 'msgpack')
"""Those by which most of ours would break."""
SURVEY = f'''\
import sys
for name in {NAMES!r}:
    try:
        print(name, getattr(__import__(name), 'MINE', 'library'))
    except Exception as error:
        print(name, type(error), error)
'''
WRAPPED = '''
from pyfuncdbg import tf
def norm(x):
    print('in norm')
    return x * 2
print('result', tf.numpy_function(norm, [tf.constant([1., 2.])], tf.float32).numpy())
'''
COMMANDS = 'locals\np x.sum()\ncalls --json\nbt\nhealth\nlt\nn\nw\ncont\n'


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)


def ran(folder: Path, *command: str, **environment: str) -> subprocess.CompletedProcess[str]:
    given = dict(os.environ, PYTHONHASHSEED='0', **environment)
    return subprocess.run([sys.executable, *command], cwd=folder, env=given, capture_output=True, text=True,
                          stdin=subprocess.DEVNULL, timeout=100)


@pytest.fixture(scope='module')
def launcher(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The console script: a file of its own, in a folder that has nothing else."""
    path = tmp_path_factory.mktemp('bin') / 'pyfuncdbg'
    path.write_text(f'import sys\nsys.path.append({str(ROOT)!r})\nfrom pyfuncdbg.cli import main\n'
                    "if __name__ == '__main__':\n    sys.exit(main())\n")
    return str(path), 'run'


def both(folder: Path, launcher: tuple[str, ...], *target: str, **environment: str) -> str:
    """What a program prints, which is the same under both."""
    plain = ran(folder, *target, **environment)
    ours = ran(folder, *launcher, '--quiet', *target, **environment)
    assert (ours.stdout, ours.returncode) == (plain.stdout, plain.returncode), ours.stderr
    assert plain.returncode == 0, plain.stderr
    return plain.stdout


@pytest.mark.parametrize('kind', ['{}.py', '{}/__init__.py'])
def test_every_name_at_once(kind: str, tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {kind.format(name): 'MINE = "mine"' for name in NAMES} | {'prog.py': SURVEY})
    plain, ours = (ran(tmp_path, *command, 'prog.py').stdout.splitlines() for command in ((), launcher))
    # A library module that finds the program's where it needs the library's fails in plain Python; it may work here.
    broken = {line.split()[0] for line in plain if '<class' in line}
    assert [line for line in ours if line.split()[0] not in broken] == [line for line in plain if '<class' not in line]
    assert broken <= {'runpy', 'distutils'}
    assert sum(line.endswith(' mine') for line in ours) > 200
    assert 'json mine' in ours and 'sys library' in ours


FAR = 'import sys\nsys.path.{}\n'


@pytest.mark.parametrize('change', ["insert(0, {folder!r})", "extend(sys.path[1:]); sys.path = [{folder!r}, *sys.path]"])
def test_every_name_in_a_far_folder_that_the_program_adds(change: str, tmp_path: Path, launcher: tuple[str, ...]) -> None:
    folder = str(tmp_path / 'some' / 'library')
    write(tmp_path, {f'some/library/{name}.py': 'MINE = "mine"' for name in NAMES} |
          {'app/prog.py': FAR.format(change.format(folder=folder)) + SURVEY})
    plain, ours = (ran(tmp_path / 'app', *command, 'prog.py').stdout.splitlines() for command in ((), launcher))
    broken = {line.split()[0] for line in plain if '<class' in line} | {'numpy', 'ml_dtypes'}
    left = [[line for line in lines if line.split()[0] not in broken] for lines in (ours, plain)]
    assert left[0] == left[1]
    assert {'shutil mine', 'linecache mine', 'msgpack mine', 'json mine', 'sys library'} <= set(ours)


def test_a_program_that_shadows_every_name_is_debugged(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    # From 3.12 on the interpreter itself takes `typing` from `sys.modules` when a class of ours is made.
    names = set(NAMES) - ({'typing'} if sys.version_info >= (3, 12) else set())
    write(tmp_path, {f'{name}.py': 'MINE = "mine"' for name in names} | {'prog.py': SURVEY + WRAPPED, 'commands': COMMANDS})
    assert_debugged(tmp_path, launcher)


@pytest.mark.parametrize('name', ALONE)
def test_a_program_that_shadows_one_name_is_debugged(name: str, tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {f'{name}.py': 'MINE = "mine"', 'commands': COMMANDS,
                     'plain.py': f'import {name}\nprint({name}.MINE)\n',
                     'prog.py': f'import {name}\nprint(getattr({name}, "MINE", "library"))\n{WRAPPED}'})
    plain = ran(tmp_path, 'plain.py', PYTHONPATH='')    # what site has imported is the library's
    assert assert_debugged(tmp_path, launcher).startswith('library\n' if plain.returncode else 'mine\n')


def assert_debugged(folder: Path, launcher: tuple[str, ...]) -> str:
    done = ran(folder, *launcher, '--break', 'norm', '-x', 'commands', 'prog.py', PYTHONPATH='')
    text = done.stdout + done.stderr
    assert done.returncode == 0, text
    assert 'result [2. 4.]' in done.stdout
    assert 'STOPPED entering norm' in text
    assert '***' not in text
    assert 'Traceback' not in text
    calls = next(line for line in text.splitlines() if line.startswith('{"calls"'))
    assert json.loads(calls)['total'] == 1              # the one that has been stopped
    assert 'pyfuncdbg show prog.pfd calls' in text          # the report at the end
    stack = text[text.index('(pfd) bt'):text.index('(pfd) health')]
    assert stack.splitlines()[1].startswith('  prog.py:')   # no frame of the launcher
    return done.stdout


NEAR = {
    'a module that the program adds to its path later': '''
import sys
sys.path.insert(0, 'src')
import json, token, platform
print(json.MINE, token.MINE, hasattr(platform, 'system'))
''',
    'the library, imported before the path is changed': '''
import sys, json, token
first = json
sys.path.insert(0, 'src')
import json, token
print(json is first, json.dumps([1]), hasattr(token, 'EXACT_TOKEN_TYPES'))
print(json.decoder, json.__spec__.name, json.__loader__ is json.__spec__.loader, json.scanner.make_scanner)
''',
    'a path that is replaced': '''
import sys
sys.path = ['src', *sys.path]
import json.extra
print(json.extra.X)
try:
    import json.decoder
except ImportError as error:
    print(error)
''',
    'a namespace package shadows nothing': '''
import sys
sys.path.insert(0, 'namespaces')
import uuid, struct
print(uuid.uuid5(uuid.NAMESPACE_DNS, 'x'), struct.calcsize('i'))
''',
    'what is in sys.modules at the beginning': '''
import sys
print([name in sys.modules for name in ('json', 'token')])
''',
    'what is in sys.modules at the beginning, of all that we load': '''
import sys
print(sorted(name for name in sys.modules if name.partition('.')[0] in {
    'shutil', 'threading', 'msgpack', 'xxhash', 'inspect', 'argparse', 'linecache', 'traceback', 'tokenize', 'subprocess'}))
''',
    'what a library sets in sys': '''
import sys, runpy, code, logging
sys.path.insert(0, 'src')
runpy.run_path('src/token.py', run_name='once')
print('once' in sys.modules, sys.argv)
code.InteractiveConsole().push('import sys; sys.mark = 1')
print(sys.mark)
''',
    'classes of libraries by name': '''
import pickle, sys
value = pickle.loads(b'\\x80\\x04\\x8c\\x04uuid\\x8c\\rNAMESPACE_DNS\\x93.')
import uuid, typing, dataclasses
print(value is uuid.NAMESPACE_DNS, uuid.SafeUUID.__module__, sys.modules['uuid'] is uuid)
@dataclasses.dataclass
class Point:
    x: 'typing.ClassVar[int]' = 1
print(dataclasses.fields(Point), typing.get_type_hints(Point))
''',
    'what compiled code imports': '''
import datetime, time
print(datetime.datetime.strptime('2020', '%Y'), time.strptime('2021', '%Y').tm_year, '\\N{BULLET}'.encode())
print(eval(r"'\\N{GREEK SMALL LETTER ALPHA}'").encode(), 'x\u00e9'.isidentifier())
''',
    'threads are waited for': '''
import threading, time
def work():
    time.sleep(0.3)
    print('done')
threading.Thread(target=work).start()
''',
    'threads of a library are waited for': '''
from concurrent.futures import ThreadPoolExecutor
import time
ThreadPoolExecutor(1).submit(lambda: time.sleep(0.3) or print('done'))
''',
}


@pytest.mark.parametrize('case', NEAR)
def test_names_in_folders_beside_the_program(case: str, tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {'prog.py': NEAR[case], 'src/json/__init__.py': 'MINE = "json"\nclass Thing: pass',
                     'src/json/extra.py': 'X = 1', 'src/token.py': 'MINE = "token"',
                     'namespaces/uuid/x.txt': '', 'namespaces/struct/x.txt': '',
                     'data/threading/x.txt': '', 'data/platform/x.txt': ''})
    assert both(tmp_path, launcher, 'prog.py')


PROCESSES = '''
import sys
sys.path.insert(0, 'src')
import json, multiprocessing, pickle
def module(x):
    import json
    return json.MINE, x
if __name__ == '__main__':
    print(pickle.loads(pickle.dumps(json.Thing())).__class__ is json.Thing)
    for way in ('fork', 'spawn'):
        with multiprocessing.get_context(way).Pool(1) as pool:
            print(way, pool.map(module, [1, 2]))
'''


def test_pickles_and_spawned_processes(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {'prog.py': PROCESSES, 'src/json.py': 'MINE = "json"\nclass Thing: pass'})
    assert both(tmp_path, launcher, 'prog.py').startswith('True\nfork')


@pytest.mark.parametrize('flags', [(), ('-P',)])
def test_the_path_of_the_environment(flags: tuple[str, ...], tmp_path: Path, launcher: tuple[str, ...]) -> None:
    names = ('json', 'dataclasses', 'argparse', 'threading', 'uuid')
    source = 'import sys\n' + ''.join(f'import {name}; print({name}.MINE)\n' for name in names) + 'print(sys.path[:3])'
    write(tmp_path, {f'lib/{name}.py': 'MINE = __name__' for name in names} | {'prog.py': source})
    folder = str(tmp_path / 'lib')
    plain = ran(tmp_path, *flags, 'prog.py', PYTHONPATH=folder)
    ours = ran(tmp_path, *flags, *launcher, 'prog.py', PYTHONPATH=folder)
    assert ours.stdout == plain.stdout
    assert plain.stdout.startswith('json\ndataclasses\n')
    assert 'pyfuncdbg show prog.pfd' in ours.stderr


def test_safe_path(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {'json.py': 'MINE = 1', 'prog.py': 'import json, sys; print(hasattr(json, "MINE"), sys.path[:1])'})
    plain = ran(tmp_path, '-P', 'prog.py')
    assert ran(tmp_path, '-P', *launcher, 'prog.py').stdout == plain.stdout
    assert plain.stdout.startswith('False')


@pytest.mark.parametrize('target', [('-m', 'pkg.mod'), ('pkg/mod.py',), ('app.zip',), ('pkg',)])
def test_modules_folders_and_zip_files(target: tuple[str, ...], tmp_path: Path, launcher: tuple[str, ...]) -> None:
    source = 'import json, uuid, inspect; print(*(hasattr(each, "MINE") for each in (json, uuid, inspect)))'
    write(tmp_path, {'json.py': 'MINE = 1', 'uuid/__init__.py': 'MINE = 1', 'pkg/__init__.py': '', 'pkg/mod.py': source,
                     'pkg/__main__.py': source, 'pkg/uuid.py': 'MINE = 1',
                     'app/__main__.py': source, 'app/inspect.py': 'MINE = 1'})
    shutil.make_archive(str(tmp_path / 'app'), 'zip', tmp_path / 'app')
    expected = {'-m': 'True True False', 'pkg/mod.py': 'False True False', 'app.zip': 'False False True',
                'pkg': 'False True False'}
    assert both(tmp_path, launcher, *target).strip() == expected[target[0]]


def test_python_m_pyfuncdbg_where_the_current_folder_shadows(tmp_path: Path) -> None:
    write(tmp_path, {f'{name}.py': 'MINE = __name__' for name in ('json', 'dataclasses', 'argparse', 'rich')} | {
        'prog.py': 'import json, dataclasses, argparse, rich\nprint(json.MINE, dataclasses.MINE, argparse.MINE, rich.MINE)'})
    done = ran(tmp_path, '-m', 'pyfuncdbg', 'run', 'prog.py', PYTHONPATH=str(ROOT))
    assert done.stdout == 'json dataclasses argparse rich\n', done.stderr
    assert 'pyfuncdbg show prog.pfd' in done.stderr


def test_verify_where_the_current_folder_shadows(tmp_path: Path) -> None:
    write(tmp_path, {f'{name}.py': 'MINE = __name__' for name in ('json', 'dataclasses')} | {
        'prog.py': 'import json, dataclasses\nfrom pyfuncdbg import tf\nprint(json.MINE, dataclasses.MINE)\n'
                   'print(tf.numpy_function(abs, [tf.constant(-1.0)], tf.float32))'})
    done = ran(tmp_path, '-m', 'pyfuncdbg', 'verify', '--repeat', '1', '--json', 'prog.py', PYTHONPATH=str(ROOT))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)['answer'] == 'equal'


IDENTITY = '''
import json, socket, dataclasses, uuid
assert json.MINE and socket.MINE and dataclasses.MINE and uuid.MINE
import sys, gc
import pyfuncdbg
from pyfuncdbg.observers.debug.breakpoints import file
from pyfuncdbg.ui.commands.socket import protocol
from pyfuncdbg.ui.commands.socket import server
from pyfuncdbg.ui.commands import calls
from pyfuncdbg.ui.commands import timeline
from pyfuncdbg.observers.record.log import trace_folder as folder
from pyfuncdbg.observers.record.log import writer
ours = folder.json
error = ours.JSONDecodeError
print('json', error.__module__, ours is protocol.json is file.json, ours.decoder.JSONDecodeError is error)
for text in ('{', '"', '[1,', 'nul', '{"a" 1}'):
    try:
        ours.loads(text)
    except ours.JSONDecodeError as error:
        print(error)
print('socket', server.socket.socket.__module__, issubclass(server.socket.socket, __import__('_socket').socket))
from pyfuncdbg.hooks.call_frames import Entrance
from pyfuncdbg.ui.views.lists import Column
fields = [next(iter(each.__dataclass_fields__.values())) for each in (Entrance, Column)]
print('Field', type(fields[0]) is type(fields[1]), type(fields[0]).__module__, hasattr(dataclasses, 'Field'))
spaces = {}
for module in gc.get_objects():
    if type(module) is type(sys) and getattr(module, '__file__', None) and getattr(module, '__spec__', None):
        spaces.setdefault((module.__spec__.name, module.__file__), []).append(module)
print('twice', [name for name, each in spaces.items() if len(each) > 1])
'''


def test_our_objects_have_the_librarys_classes_and_no_module_exists_twice(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {f'{name}.py': 'MINE = 1' for name in ('json', 'socket', 'dataclasses', 'uuid')} | {'prog.py': IDENTITY})
    done = ran(tmp_path, *launcher, '--listen', 'prog.py', XDG_RUNTIME_DIR=str(tmp_path), TMPDIR=str(tmp_path))
    assert done.returncode == 0, done.stderr
    json_line, *errors, socket_line, field_line, twice = done.stdout.splitlines()
    assert json_line == 'json json.decoder True True'
    assert len(errors) == 5
    assert all('line 1 column' in error for error in errors)
    assert (socket_line, field_line, twice) == ('socket socket True', 'Field True dataclasses False', 'twice []')


PATCHED_BUILTINS = '''
import builtins
from unittest import mock
import json, json.encoder, numpy, shlex
json.encoder.c_make_encoder = None
real, opened = open, []
def noted(name, *rest, **options):
    opened.append(str(name))
    return real(name, *rest, **options)
numpy.save('kept.npy', numpy.ones(2))
with mock.patch('builtins.open', noted):
    numpy.save('array.npy', numpy.load('kept.npy'))
numpy.save('after.npy', numpy.load('kept.npy'))
print(opened)
builtins.sorted = lambda values: [('patched', 1)]
print(numpy.array2string(numpy.ones(1)), json.dumps({2: 1, 1: 2}, sort_keys=True, indent=0), shlex.quote('a b'))
builtins.later = 3
print(later, builtins, type(builtins))
del builtins.later
print(hasattr(builtins, 'later'))
'''


AT_START = '''
import atexit, os, sys, threading
def leave():
    with open('ended', 'a') as file:
        print(os.path.basename(sys.argv[0]), file=file)
atexit.register(leave)
threading.Thread(target=threading.Event().wait).start()     # of an agent, for instance: the program ends without it
'''


def test_what_runs_before_a_program_ends_with_the_program_alone(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {'site/sitecustomize.py': AT_START, 'prog.py': 'import atexit, os, sys\nprint("end", flush=True)\n'
                                                                   'atexit._run_exitfuncs()\nos._exit(3)\n'})
    done = ran(tmp_path, *launcher, 'prog.py', PYTHONPATH=str(tmp_path / 'site'))
    assert (done.stdout, done.returncode) == ('end\n', 3), done.stderr
    assert (tmp_path / 'ended').read_text() == 'prog.py\n'


def test_libraries_see_the_builtins_that_the_program_replaces(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    write(tmp_path, {'prog.py': PATCHED_BUILTINS})
    assert both(tmp_path, launcher, 'prog.py').startswith("['kept.npy', 'array.npy']")


def test_stacks_have_no_frame_of_the_launcher(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    source = """
from pyfuncdbg.tf import compat
tf = compat.v1
tf.disable_v2_behavior()
def bad(x):
    raise ValueError('bad')
op = tf.py_func(bad, [tf.constant(1.0)], tf.float32)
print([(frame.name, frame.lineno) for frame in op.op.traceback])
try:
    tf.Session().run(op)
except tf.errors.OpError as error:
    print(error)
"""
    write(tmp_path, {'prog.py': source})
    done = ran(tmp_path, *launcher, 'prog.py')
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("[('<module>', 7)]\n")
    assert 'Original stack trace' in done.stdout
    assert launcher[0] not in done.stdout
    assert 'sys.exit(main())' not in done.stdout


@pytest.mark.parametrize('text', [b'x = 1\nprint(1)\n\0y', b'y = "a\0b"\n', '# \u00e4\ny = "\u00e4\0"'.encode(), b'\0'])
def test_a_null_byte_in_a_script(text: bytes, tmp_path: Path, launcher: tuple[str, ...]) -> None:
    (tmp_path / 'prog.py').write_bytes(text)
    plain, ours = ran(tmp_path, 'prog.py'), ran(tmp_path, *launcher, 'prog.py')
    assert (ours.stdout, ours.returncode) == (plain.stdout, plain.returncode) == ('', 1)
    assert ours.stderr.startswith(plain.stderr)


WARNS = '''
import numpy as np
from pyfuncdbg import tf
tf.numpy_function(lambda x: np.log(x), [np.zeros(2)], tf.float64)
'''


@pytest.mark.parametrize(('own', 'kinds'), [(False, ['fp', 'warning']), (True, ['fp', 'err'])])
def test_warnings_of_c_code_are_warnings_though_the_program_imports_none(
        own: bool, kinds: list[str], tmp_path: Path, launcher: tuple[str, ...]) -> None:
    numpy, tf, call = WARNS.split('\n', 3)[1:]
    # NumPy itself cannot be loaded with such a `warnings.py`, except by us.
    loaded_by_us = '\n'.join([tf, 'tf.constant(1.0)', numpy, call])
    write(tmp_path, {'w.py': loaded_by_us, 'warnings.py': 'MINE = 1'} if own else {'w.py': WARNS})
    done = ran(tmp_path, *launcher, '--record', 'w.pfd', 'w.py')
    assert done.returncode == 0 and 'RuntimeWarning: divide by zero' in done.stderr, done.stderr
    with Trace.open(tmp_path / 'w.pfd') as trace:
        (call,) = trace.calls(kind='python')
    assert list(dict.fromkeys(one.kind for one in call.output)) == kinds


def test_a_dataclass_of_a_library_that_a_command_loads_later(tmp_path: Path, launcher: tuple[str, ...]) -> None:
    """The program has imported `dataclasses` by then, which looks for the module of a class among the loaded ones."""
    write(tmp_path, {'prog.py': 'import dataclasses, pyfuncdbg.ui.views.progress as ours\n'
                                'load = vars(ours)["__builtins__"]["__import__"]\n'
                                'print(load("rich.progress", vars(ours), None, ["Progress"]).Progress.__name__)\n'})
    done = ran(tmp_path, *launcher, '--quiet', '--break', 'nowhere', 'prog.py')
    assert done.stdout == 'Progress\n', done.stderr
