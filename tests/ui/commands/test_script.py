"""A program run by `script.execute` against the same program run by plain Python: output, exit code and traceback."""
from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from pyfuncdbg.errors import UsageError
from pyfuncdbg.ui.commands.programs import run_script

DRIVER = '''\
import sys
from pyfuncdbg.ui.commands.programs import run_script
def main(program, *args):
    if program == '-m':
        run_script.execute(run_script.module(args[0], args[1:]))
    else:
        run_script.execute(run_script.script(program, args))
if __name__ == '__main__':
    sys.exit(main(*sys.argv[1:]))
'''

ROOT = Path(run_script.__file__).resolve().parents[4]


def outcome(command: list[str], cwd: Path, **options: object) -> tuple[int, bytes, bytes]:
    environment = dict(os.environ, PYTHONPATH=str(ROOT), PYTHONHASHSEED='0')
    done = subprocess.run([sys.executable, *command], cwd=cwd, env=environment, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, **options)  # type: ignore[call-overload]
    return done.returncode, done.stdout, done.stderr


def compared(cwd: Path, *command: str) -> tuple[int, bytes, bytes]:
    """The outcome under plain Python, which is the outcome here too."""
    driver = cwd / 'elsewhere' / 'driver.py'
    driver.parent.mkdir(exist_ok=True)
    driver.write_text(DRIVER)
    plain = outcome(list(command), cwd)
    ours = outcome([str(driver), *command], cwd)
    assert [without_addresses(part) for part in ours] == [without_addresses(part) for part in plain]
    return plain


def without_addresses(part: int | bytes) -> int | bytes:
    return part if isinstance(part, int) else re.sub(rb'0x[0-9a-f]+', b'0x', part)


def written(cwd: Path, source: str, name: str = 'prog.py') -> str:
    path = cwd / name
    path.parent.mkdir(exist_ok=True, parents=True)
    path.write_text(source)
    return name


SOUND = {
    'namespace': '''
import sys
print(sorted(globals()))
for name in ('__name__', '__file__', '__spec__', '__cached__', '__package__', '__doc__', '__builtins__', '__annotations__'):
    print(name, repr(globals()[name]))
print(type(__loader__), __loader__.name, __loader__.path, __loader__.get_data(__file__)[:8])
print(sys.argv, sys.path, sys.modules['__main__'].__dict__ is globals())
''',
    'import of itself': '''
x = 1
import __main__
__main__.x += 1
print(x, __main__)
''',
    'pickle': '''
import pickle
class Point:
    def __init__(self, x): self.x = x
if __name__ == '__main__':
    blob = pickle.dumps(Point(3))
    print(blob, pickle.loads(blob).x, Point, Point.__module__)
''',
    'ways out: none': 'print("end")',
    'ways out: atexit and threads': '''
import atexit, sys, threading, time
atexit.register(print, 'registered first')
atexit.register(print, 'registered second')
def work():
    time.sleep(0.2)
    print('thread done', threading.main_thread().is_alive(), sys.modules['__main__'].__dict__ is globals())
threading.Thread(target=work).start()
print('main done')
''',
    'future statement of ours is not inherited': 'def f(x: print("evaluated")): pass\nprint(f.__annotations__)',
    'atexit without __file__': 'import atexit\natexit.register(lambda: print(sorted(globals())))',
    'arguments': 'import sys; print(sys.argv)',
    'stdin': 'import sys; print(repr(sys.stdin.read()))',
    'warning in main': 'import warnings; warnings.warn("old", DeprecationWarning)',
    'fork': '''
import os, sys
sys.stdout.flush()
pid = os.fork()
if pid == 0:
    print('child'); sys.exit(4)
print('parent', os.waitpid(pid, 0)[1] >> 8)
''',
    'spawned and forked workers': '''
import multiprocessing, sys
def square(x):
    return x * x, __name__ in ('__main__', '__mp_main__')
if __name__ == '__main__':
    for way in ('fork', 'spawn'):
        with multiprocessing.get_context(way).Pool(1) as pool:
            print(way, pool.map(square, range(3)))
''',
}

FATAL = {
    'sys.exit of a number': ('import sys; print("x"); sys.exit(3)', 3),
    'sys.exit of a text': ('import sys; sys.exit("no such model")', 1),
    'sys.exit of nothing': ('import sys; sys.exit()', 0),
    'sys.exit of an object': ('import sys; sys.exit([1, 2])', 1),
    'os._exit': ('import os; print("lost?", flush=True); os._exit(7)', 7),
    'exception': ('def f(x):\n    return 1 / x\n\nprint("before")\nf(0)\n', 1),
    'chained exceptions': ('''
def f():
    try:
        {}['key']
    except KeyError as error:
        raise ValueError('outer') from error
try:
    f()
except ValueError:
    raise RuntimeError('while handling')
''', 1),
    'exception group': ('raise ExceptionGroup("several", [ValueError(1), KeyError("k")])', 1),
    'recursive exception in __str__': ('class E(Exception):\n    def __str__(self): raise ValueError\nraise E', 1),
    'syntax error': ('print("never")\ny = = 2\n', 1),
    'error in an imported module': ('import json\njson.loads("{")\n', 1),
    'own excepthook': ('import sys\nsys.excepthook = lambda kind, value, tb: print(kind, value, tb.tb_lineno, tb.tb_next)\n'
                       'raise ValueError(5)', 1),
    'last_traceback in atexit': ('import atexit, sys, traceback\n'
                                 'atexit.register(lambda: print(traceback.format_tb(sys.last_traceback), sys.excepthook))\n'
                                 'raise ValueError(5)', 1),
    'keyboard interrupt': ('import os, signal\nprint("x", flush=True)\nos.kill(os.getpid(), signal.SIGINT)\n'
                           'import time; time.sleep(5)', -signal.SIGINT),
    'SIGTERM': ('import os, signal\nprint("x", flush=True)\nos.kill(os.getpid(), signal.SIGTERM)\n'
                'import time; time.sleep(5)', -signal.SIGTERM),
    'exception in a thread': ('import threading\ndef f(): 1 / 0\nt = threading.Thread(target=f, name="w")\n'
                              't.start(); t.join()', 0),
    'stdout that is full at the end': ('import sys\nsys.stdout = open("/dev/full", "w"); print("x")', 120),
    'excepthook and atexit with __file__': ('import atexit, sys\natexit.register(lambda: print(sorted(globals())))\n'
                                            'sys.excepthook = lambda *_: print(__file__)\nraise ValueError', 1),
}


@pytest.mark.parametrize('name', SOUND)
def test_a_program_runs_as_under_plain_python(name: str, tmp_path: Path) -> None:
    code, out, _ = compared(tmp_path, written(tmp_path, SOUND[name]), '--record', 'a b', '-h', '--', '-m')
    assert code == 0
    assert out or name == 'warning in main'


@pytest.mark.parametrize('name', FATAL)
def test_a_program_ends_as_under_plain_python(name: str, tmp_path: Path) -> None:
    source, expected = FATAL[name]
    code, _, _ = compared(tmp_path, written(tmp_path, source))
    assert code == expected


@pytest.mark.parametrize('name', ['with space.py', 'sub/prog.py', './dotted.py', 'sub/../up.py', 'no_ending', 'ünï.py'])
def test_any_path_to_a_script(name: str, tmp_path: Path) -> None:
    (tmp_path / 'sub').mkdir()
    compared(tmp_path, written(tmp_path, SOUND['namespace'], name))


def test_a_script_behind_a_link_imports_from_beside_the_file(tmp_path: Path) -> None:
    written(tmp_path, 'import sys, friend; print(sys.path[0], friend, __file__)', 'real/prog.py')
    written(tmp_path, '', 'real/friend.py')
    (tmp_path / 'link.py').symlink_to('real/prog.py')
    code, out, _ = compared(tmp_path, 'link.py')
    assert code == 0
    assert out.startswith(bytes(tmp_path.resolve() / 'real'))


def test_a_coding_cookie_and_a_byte_order_mark(tmp_path: Path) -> None:
    (tmp_path / 'latin.py').write_bytes('# -*- coding: latin-1 -*-\nprint(ascii("é"))\n'.encode('latin-1'))
    (tmp_path / 'bom.py').write_bytes('\ufeffprint(ascii("é"))\n'.encode())
    assert compared(tmp_path, 'latin.py')[1] == compared(tmp_path, 'bom.py')[1] == b"'\\xe9'\n"


def test_a_compiled_script(tmp_path: Path) -> None:
    import py_compile
    py_compile.compile(str(tmp_path / written(tmp_path, 'print(__name__, __file__, __cached__, type(__loader__))')),
                       cfile=str(tmp_path / 'prog.pyc'), doraise=True)
    assert compared(tmp_path, 'prog.pyc')[0] == 0


def test_a_folder_and_a_zip_file_with_a_main(tmp_path: Path) -> None:
    source = ('import sys, friend\nprint(sys.argv, sys.path[0], __file__, __name__, __spec__, __package__, friend)\n'
              'raise ValueError')
    written(tmp_path, source, 'app/__main__.py')
    written(tmp_path, '', 'app/friend.py')
    with zipfile.ZipFile(tmp_path / 'app.zip', 'w') as archive:
        archive.writestr('__main__.py', source)
        archive.writestr('friend.py', '')
    for target in ('app', 'app.zip'):
        code, out, _ = compared(tmp_path, target, 'x')
        assert code == 1
        assert out.startswith(f"['{target}', 'x'] {tmp_path / target} ".encode())


MODULE = '''
import sys
print(sys.argv, sys.path, __name__, __file__, __package__, __spec__)
if 'fail' in sys.argv:
    raise KeyError(1)
if 'interrupt' in sys.argv:
    import os, signal
    os.kill(os.getpid(), signal.SIGINT)
'''


def test_ctrl_c_ends_a_program_by_the_signal_also_where_a_breakpoint_has_stopped_nothing(tmp_path: Path) -> None:
    """What is said of it imports modules at the exit; one of them makes Python forget that it was Ctrl-C."""
    written(tmp_path, 'raise KeyboardInterrupt')
    command = [sys.executable, '-m', 'pyfuncdbg', 'run', '-q', '--break', 'nothing', '--ui', 'none', 'prog.py']
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL)
    assert done.returncode == -signal.SIGINT and '(nothing) stopped nothing: nothing of that name' in done.stderr


@pytest.mark.parametrize(('argument', 'expected'), [('go', 0), ('fail', 1), ('interrupt', -signal.SIGINT)])
@pytest.mark.parametrize('name', ['mod', 'pkg', 'pkg.sub'])
def test_a_module_and_a_package(name: str, argument: str, expected: int, tmp_path: Path) -> None:
    written(tmp_path, MODULE, 'mod.py')
    written(tmp_path, 'print("package", __name__)', 'pkg/__init__.py')
    written(tmp_path, MODULE, 'pkg/__main__.py')
    written(tmp_path, 'from . import __name__ as parent; print(parent)' + MODULE, 'pkg/sub.py')
    assert compared(tmp_path, '-m', name, argument, '-m', '--')[0] == expected


def test_a_package_without_a_main_and_a_missing_submodule(tmp_path: Path) -> None:
    written(tmp_path, '', 'pkg/__init__.py')
    assert compared(tmp_path, '-m', 'pkg')[0] == 1
    assert compared(tmp_path, '-m', 'pkg.nothing')[0] == 1


def test_a_workers_unpickled_class_is_the_programs(tmp_path: Path) -> None:
    source = '''
from concurrent.futures import ProcessPoolExecutor
import multiprocessing
class Box:
    def __init__(self, x): self.x = x
def grow(box): return Box(box.x + 1)
if __name__ == '__main__':
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context('spawn')) as pool:
        box = pool.submit(grow, Box(1)).result()
        print(type(box) is Box, box.x)
'''
    assert compared(tmp_path, written(tmp_path, source))[1] == b'True 2\n'


@pytest.mark.parametrize(('path', 'said'), [
    ('trian.py', "no such file: 'trian.py'. Did you mean 'train.py'?"),
    ('nowhere/x.py', "no such file: 'nowhere/x.py'."),
    ('empty', "'empty' has no __main__.py to run"),
])
def test_a_script_that_is_not_there(path: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, '', 'train.py')
    (tmp_path / 'empty').mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UsageError) as raised:
        run_script.script(path)
    assert str(raised.value) == said


def test_a_module_that_is_not_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path, 'raise SystemError("imported")', 'trainer.py')
    monkeypatch.chdir(tmp_path)
    before = list(sys.path)
    with pytest.raises(UsageError, match=r"no module named 'trianer'. Did you mean 'trainer'\?"):
        run_script.module('trianer.deep')
    with pytest.raises(UsageError, match='is not the name of a module'):
        run_script.module('')
    assert run_script.module('trainer').argv == ('-m',)
    assert sys.path == before
