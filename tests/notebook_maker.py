"""The notebooks in `notebooks/`: run in fresh kernels, with their outputs in the form in which they are kept.

    python tests/notebook_maker.py [NAME ...]

runs them, all by default, and writes outputs that have changed; one that differs only in times stays as it is. What is kept
is text and pictures, which every code host shows, and no path of the machine. The tests run them the same way, and compare.
"""
from __future__ import annotations

import os
import re
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import nbformat
from jupyter_client.manager import AsyncKernelManager
from nbclient import NotebookClient
from notebook_kernel import sockets
from notebook_pictures import pictures

import pyfuncdbg
from pyfuncdbg.ui.commands.engine.answer import MARK

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / 'notebooks'
PACKAGE = Path(pyfuncdbg.__file__).resolve().parent
_PROGRAMS = '.programs'
METADATA = {'kernelspec': {'display_name': 'Python 3', 'language': 'python', 'name': 'python3'},
            'language_info': {'name': 'python'}}

_ANSI = re.compile(r'\x1b\[[0-9;?]*[A-Za-z]|\x1b[=>]')
_BLANKS = re.compile(r'[ \t]+$', re.MULTILINE)
_CELL = re.compile(r'/tmp/ipykernel_\d+/\d+\.py')
_TRACES = re.compile(r'/tmp/pyfuncdbg-[a-z0-9_]{8}/')
_NUMBER = r'\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?'
_MASKS = (
    (re.compile(rf'{_NUMBER}\s?(?:ns|us|µs|ms|s|min|h)\b'), 'TIME'),
    (re.compile(r'^(\s*(?:#[\d.]+\s+)?)\d+\.\d\d\s', re.MULTILINE), r'\1TIME '),      # the column `time ms` of a list
    (re.compile(r'\(\d[\d.]*\s+[KMG]?B\)'), '(SIZE)'),
    (re.compile(r'\b(thread|process) \d+'), r'\1 N'),
    (re.compile(r'^\s+\d+  (?=\s*\S+.*TIME$)', re.MULTILINE), ' PID '),      # the tree of processes of `info`
    (re.compile(r'(process(?:es)?), \d[\d.]* [KMG]?B'), r'\1, SIZE'),
    (re.compile(r'0x[0-9a-f]+'), '0xN'),
    (re.compile(r'\b\d(?:\.\d+)?e-\d\d\b|-?\d\.\d+e-(?:0[6-9]|[1-9]\d)'), 'TINY'),      # as processors round
    (re.compile(r'made again \d+ times'), 'made again'),
    (re.compile(r'\S*\.\.\.\S*'), '...'),       # where a name is cut depends on the width of the times beside it
    (re.compile(r'─+'), '─'),
    (re.compile(r'\s+'), ' '),
)


def names() -> list[str]:
    """The notebooks, in order."""
    return sorted(path.stem for path in FOLDER.glob('*.ipynb'))


def read(name: str) -> Any:
    """A notebook as it is kept."""
    return nbformat.read(FOLDER / f'{name}.ipynb', as_version=4)


def run(book: Any, *, pages: bool = False) -> Any:
    """A copy of a notebook, run in a kernel of its own in an empty folder.

    Args:
        book: The notebook.
        pages: Leave the HTML of outputs in it.

    Raises:
        nbclient.exceptions.CellExecutionError: A cell raised.
    """
    done = nbformat.from_dict(book)
    with tempfile.TemporaryDirectory(prefix='notebook-', dir='/tmp') as place:      # a path of one length, as below
        programs = Path(place, _PROGRAMS)
        programs.mkdir()
        (programs / 'lib').mkdir()
        (programs / 'lib' / 'pyfuncdbg').symlink_to(PACKAGE)     # tables have the same room for its paths everywhere
        command = programs / 'pyfuncdbg'        # this one, whatever is installed
        command.write_text(f'#!/bin/sh\nexec {sys.executable} -m pyfuncdbg "$@"\n', encoding='utf-8')
        command.chmod(command.stat().st_mode | stat.S_IXUSR)
        environment = dict(os.environ, PYTHONPATH=str(programs / 'lib'), COLUMNS='100', LINES='40',
                           NO_COLOR='1', TERM='dumb',
                           PATH=os.pathsep.join((str(programs), str(Path(sys.executable).parent), os.environ['PATH'])),
                           IPYTHONDIR=str(programs), TF_CPP_MIN_LOG_LEVEL='3', PYTHONHASHSEED='0')
        with sockets() as where:
            client = NotebookClient(done, AsyncKernelManager(kernel_name='python3', **where), timeout=100,
                                    record_timing=False, resources={'metadata': {'path': place}})
            client.execute(env=environment)
        for cell in done.cells:
            if cell.cell_type == 'code':
                cell.outputs = [one for output in _joined(cell.outputs) for one in kept(output, place, pages=pages)]
    return done


def _joined(outputs: list[Any]) -> list[Any]:
    """Outputs with neighbours of one stream as one: how a stream is cut up is chance."""
    joined: list[Any] = []
    for output in outputs:
        if output.output_type == 'stream' and joined and joined[-1].get('name') == output.name:
            joined[-1].text += output.text
        else:
            joined.append(output)
    return joined


def kept(output: Any, place: str, *, pages: bool = False) -> list[Any]:
    """An output without what belongs to this machine and this moment, and its pictures behind it, as images."""
    images: list[Any] = []
    if output.output_type == 'stream':
        output.text = _clean(output.text, place)
    elif 'data' in output:
        if 'text/plain' in output.data and not pages:
            images = [nbformat.v4.new_output('display_data', {'image/svg+xml': image})
                      for image in pictures(output.data.pop('text/html', ''))]
        for kind, text in output.data.items():
            if isinstance(text, str) and not kind.startswith('image/'):
                output.data[kind] = _clean(text, place)
        output.metadata = {}
    return [output, *images]


def _clean(text: str, place: str) -> str:
    text = _BLANKS.sub('', _ANSI.sub('', text).replace('\r\n', '\n'))
    for path in (f'{place}/{_PROGRAMS}/lib', place, str(PACKAGE.parent), str(ROOT), sys.prefix):
        text = text.replace(path + '/', '').replace(path, '.')
    return _TRACES.sub('/tmp/', _CELL.sub('cell.py', text))


def masked(output: Any) -> Any:
    """What of an output is the same at every run."""
    texts = {'': output.text} if output.output_type == 'stream' else dict(output.get('data', {}))
    for kind, text in texts.items():
        if kind.startswith('image/'):
            text = _words(text) if text.startswith(MARK) else 'a picture'
        for pattern, word in _MASKS:
            text = pattern.sub(word, text)
        texts[kind] = text.strip()
    return output.output_type, output.get('name', ''), texts


def _words(picture: str) -> str:
    """What stands in a picture of a terminal, line by line."""
    return '\n'.join(''.join(node.itertext()).replace('\xa0', ' ') for node in ElementTree.fromstring(picture).iter()
                     if node.tag.endswith('}text'))


def write(name: str) -> bool:
    """Run a notebook and write it; whether anything has changed but times."""
    book = read(name)
    done = run(book)
    changed = False
    for before, after in zip(book.cells, done.cells, strict=True):
        if before.cell_type == 'code':
            if [masked(output) for output in before.outputs] != [masked(output) for output in after.outputs]:
                before.outputs, changed = after.outputs, True
            before.execution_count = after.execution_count
            for output in before.outputs:
                if output.output_type == 'execute_result':
                    output.execution_count = after.execution_count
        before.metadata = {key: value for key, value in before.metadata.items() if key == 'tags'}
    for number, cell in enumerate(book.cells, 1):
        cell.id = f'cell-{number:02}'
    book.metadata = METADATA
    nbformat.write(book, FOLDER / f'{name}.ipynb')
    return changed


def main() -> None:
    """Make those that are named, or all."""
    for name in sys.argv[1:] or names():
        print(name, 'changed' if write(Path(name).stem) else 'as before', flush=True)


if __name__ == '__main__':
    main()
