"""Attaching to a framework that is missing, not whole, of another version or never imported: needs no TensorFlow."""
from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pyfuncdbg
from pyfuncdbg.errors import AttachError
from pyfuncdbg.hosts import attach

HERE = Path(pyfuncdbg.__file__).resolve().parents[1]


def package(folder: Path, files: dict[str, str]) -> None:
    """A package `tensorflow` of these files, each with all folders on the way to it made packages too."""
    for name, text in files.items():
        path = folder / 'tensorflow' / name
        path.parent.mkdir(parents=True, exist_ok=True)
        for between in path.relative_to(folder).parents:
            if between.parts and not (folder / between / '__init__.py').exists():
                (folder / between / '__init__.py').write_text('')
        path.write_text(text)


def python(folder: Path, *args: str, blocked: bool = False) -> subprocess.CompletedProcess[str]:
    """Run Python in a folder; `blocked`: as if no TensorFlow was installed."""
    if blocked:
        (folder / 'sitecustomize.py').write_text(
            'import sys\nfrom importlib.machinery import PathFinder\nfound = PathFinder.find_spec\n'
            'def find_spec(name, path=None, target=None):\n'
            '    return None if name == "tensorflow" else found(name, path, target)\n'
            'PathFinder.find_spec = find_spec\n')
    env = {**os.environ, 'PYTHONPATH': f'{folder}{os.pathsep}{HERE}'}
    return subprocess.run([sys.executable, *args], cwd=folder, env=env, capture_output=True, text=True, timeout=60)


def ours(text: str) -> list[str]:
    return [line for line in text.splitlines() if line.startswith('pyfuncdbg: ')]


def test_an_unknown_framework_is_refused_with_the_nearest() -> None:
    with pytest.raises(AttachError, match=r"cannot attach to 'tensorflo'.*'tensorflow'.*Did you mean 'tensorflow'"):
        attach('tensorflo')


def test_a_missing_tensorflow(tmp_path: Path) -> None:
    done = python(tmp_path, '-c', 'import pyfuncdbg\n'
                  'try:\n    pyfuncdbg.attach("tensorflow")\n'
                  'except pyfuncdbg.hosts.AttachError as error:\n    print(error)\n'
                  'import sys; print("tensorflow" in sys.modules, len(sys.meta_path))', blocked=True)
    assert done.stdout.splitlines()[0] == ("cannot attach to tensorflow: it is not installed. "
                                           "pip install 'pyfuncdbg[tensorflow]' installs it"), done.stderr
    assert done.stdout.splitlines()[1].startswith('False')


def test_a_program_without_tensorflow_never_gets_it(tmp_path: Path) -> None:
    package(tmp_path, {'__init__.py': 'print("imported")'})
    (tmp_path / 'program.py').write_text('import sys\nprint([name for name in sys.modules if "tensorflow" in name])')
    done = python(tmp_path, '-m', 'pyfuncdbg', 'run', 'program.py')
    # The names of its files are known to us without it.
    assert done.stdout == "['pyfuncdbg.hosts.tensorflow', 'pyfuncdbg.hosts.tensorflow.framework']\n"
    assert done.returncode == 0 and not ours(done.stderr)


def test_the_import_itself_is_as_always(tmp_path: Path) -> None:
    """What the program can see of a module is the same whether its import was awaited or not."""
    package(tmp_path, {'__init__.py': '__version__ = "1.0"\nimport tensorflow.inner', 'inner.py': ''})
    (tmp_path / 'program.py').write_text(
        'import sys\n'
        'def finders():\n'
        '    return [name for finder in sys.meta_path if (name := type(finder).__name__) != "ImportWatch"]\n'
        'before = finders()\n'
        'import tensorflow as tf\n'
        'print(type(tf.__loader__).__name__, type(tf.__spec__.loader).__name__, tf.__spec__.origin == tf.__file__, '
        'tf.__spec__._initializing, tf.inner.__name__)\n'
        'print(before == finders())')
    plain = python(tmp_path, 'program.py')
    watched = python(tmp_path, '-m', 'pyfuncdbg', 'run', 'program.py')
    assert plain.stdout == watched.stdout and 'SourceFileLoader SourceFileLoader True False tensorflow.inner' in plain.stdout
    assert ours(watched.stderr) == ['pyfuncdbg: TensorFlow 1.0 is not supported, expected 2.18 to 2.21. It runs unwatched.']


@pytest.mark.parametrize(('files', 'message'), [
    ({'__init__.py': ''}, 'is not complete: it has no __version__'),
    ({'__init__.py': '__version__ = 3'}, 'is not complete: it has no __version__'),
    ({'__init__.py': '__version__ = "2.17.1"'}, 'TensorFlow 2.17.1 is not supported, expected 2.18 to 2.21'),
    ({'__init__.py': '__version__ = "2.22.0-rc0"'}, 'TensorFlow 2.22.0-rc0 is not supported, expected 2.18 to 2.21'),
    ({'__init__.py': '__version__ = "2.20.0"'}, 'is not complete: it has not loaded tensorflow.python.ops.script_ops'),
    ({'__init__.py': '__version__ = "2.20.0"\nimport tensorflow.python.ops.script_ops',
      'python/ops/script_ops.py': 'class FuncRegistry: pass'},
     'is not complete: tensorflow.python.ops.script_ops has no EagerFunc'),
])
def test_what_cannot_be_attached_to_runs_unwatched(tmp_path: Path, files: dict[str, str], message: str) -> None:
    package(tmp_path, files)
    (tmp_path / 'program.py').write_text('import tensorflow\nprint("goes on")')
    done = python(tmp_path, '-m', 'pyfuncdbg', 'run', 'program.py')
    (line,) = ours(done.stderr)
    assert (done.returncode, done.stdout) == (0, 'goes on\n') and message in line and 'Traceback' not in done.stderr
    asked = python(tmp_path, '-c', 'import tensorflow, pyfuncdbg\nbefore = dict(vars(tensorflow))\ntry:\n'
                   '    pyfuncdbg.attach("tensorflow")\nexcept Exception as error:\n    print(type(error).__name__, error)\n'
                   'print(vars(tensorflow) == before, pyfuncdbg.hosts._attached)')
    assert asked.stdout.startswith('AttachError ') and message in asked.stdout and asked.stdout.endswith('True {}\n')


def test_an_import_that_fails_fails_as_always_and_may_be_tried_again(tmp_path: Path) -> None:
    package(tmp_path, {'__init__.py': 'raise ImportError("no libcudart")'})
    (tmp_path / 'program.py').write_text(
        'for _ in range(2):\n    try:\n        import tensorflow\n    except ImportError as error:\n'
        '        print(error, error.__traceback__.tb_next is not None)\nimport sys\nprint("tensorflow" in sys.modules)\n'
        'import tensorflow')
    plain = python(tmp_path, 'program.py')
    watched = python(tmp_path, '-m', 'pyfuncdbg', 'run', 'program.py')
    assert (watched.returncode, watched.stdout) == (plain.returncode, plain.stdout) == (
        1, 'no libcudart True\nno libcudart True\nFalse\n')
    assert watched.stderr.startswith(plain.stderr) and not ours(watched.stderr)


def test_attach_before_the_import_waits_for_it(tmp_path: Path) -> None:
    package(tmp_path, {'__init__.py': '__version__ = "2.17.0"'})
    done = python(tmp_path, '-c', 'import sys, pyfuncdbg\nattachment = pyfuncdbg.attach("tensorflow")\nprint(attachment)\n'
                  'print("tensorflow" in sys.modules, pyfuncdbg.attach("tensorflow") is attachment)\n'
                  'import tensorflow\nprint(attachment)')
    assert done.stdout.splitlines() == ['<Attachment to tensorflow: waits for its import>', 'False True',
                                        '<Attachment to tensorflow: detached>']
    assert ours(done.stderr) == ['pyfuncdbg: TensorFlow 2.17.0 is not supported, expected 2.18 to 2.21. It runs unwatched.']


def test_detach_before_the_import_leaves_nothing(tmp_path: Path) -> None:
    package(tmp_path, {'__init__.py': '__version__ = "2.17.0"'})
    done = python(tmp_path, '-c', 'import sys, pyfuncdbg\nbefore = list(sys.meta_path)\n'
                  'with pyfuncdbg.attach("tensorflow"): pass\n'
                  'print(sys.meta_path == before)\nimport tensorflow')
    assert (done.stdout, done.stderr) == ('True\n', '')


def test_a_recording_of_a_framework_that_is_not_attached_says_so_once(tmp_path: Path) -> None:
    package(tmp_path, {'__init__.py': ''})
    done = python(tmp_path, '-c', 'import pyfuncdbg\nwith pyfuncdbg.record("before.pfd"): pass\nimport tensorflow\n'
                  'for name in "ab":\n    with pyfuncdbg.record(name + ".pfd"): pass\n')
    assert done.returncode == 0
    assert ours(done.stderr) == [
        "pyfuncdbg: tensorflow is imported and not attached: its calls are not recorded. pyfuncdbg.attach('tensorflow') "
        'before its functions are wrapped, or `pyfuncdbg run`, sees them']
