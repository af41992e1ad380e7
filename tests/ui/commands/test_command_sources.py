"""A trace that names files of the reader's: whatever command is typed, no line of them is shown, and nothing hangs."""
from __future__ import annotations

import io
import json
import os
import re
import warnings
from pathlib import Path

import pytest
from recorded_source import as_version_2, recorded, renamed, rewritten
from rich.console import Console

from pyfuncdbg.errors import CommandError
from pyfuncdbg.observers.record.log import log_file
from pyfuncdbg.observers.record.sources.local_source import digest
from pyfuncdbg.observers.record.sources.source_text import NOT_RECORDED
from pyfuncdbg.observers.record.trace import Trace
from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.commands.execute import execute
from pyfuncdbg.ui.commands.table import TABLE
from pyfuncdbg.ui.inspector.panes.source import _of_call
from pyfuncdbg.ui.ipython.displays import answer_bundle, bundle

SECRET = 'password = "hunter2"'
LINES = ['info', 'calls', 'calls --kind all', 'call 1', 'call 2', 'call 3', 'call 4', 'call 5', 'out 1', 'out 2', 'lt', 'pf',
         'pt 1', "pt '#1:in0'", 'report', 'health', 'doctor', 'processes', 'help', 'graph', 'ls', 'ls --all', 'lp',
         'lp --by line',
         'lp --by file', 'timeline', 'tape', 'tape x', 'check', 'diff --calls 1 2', 'eval 1',
         'ni {node}', 'ni {node} -t -a -d', 'li {node}',
         'lo {node}', 'ps {file}', 'ps {file} --all', 'ps {file}:8', 'ps {helper}', 'ps {helper} --all']


@pytest.fixture(scope='module')
def trace(tmp_path_factory):
    return recorded(tmp_path_factory.mktemp('named') / 'project')


def made(kind, folder):
    """A file that a hostile trace may name."""
    path = folder / f'{kind}.py'
    if kind == 'fifo':
        os.mkfifo(path)
    elif kind == 'loop':
        path.symlink_to(folder / 'loop2.py')
        (folder / 'loop2.py').symlink_to(path)
    elif kind == 'linked':
        (folder / 'secret.txt').write_text(f'{SECRET}\n' * 40)
        path.symlink_to(folder / 'secret.txt')
    elif kind == 'folder':
        path.mkdir()
    elif kind.startswith('/'):
        return kind
    else:
        path.write_text(f'{SECRET}\n' * 40)
    return str(path)


def with_its_hash(fields, file):
    """A record of source lines as one who knows the content of the file would write it."""
    return [*fields[:2], os.stat(file).st_size, digest(Path(file).read_bytes()), []]


def drawn(context, line):
    """All faces of one command: text, JSON, and the HTML of a notebook."""
    try:
        answer = execute(line, context)
    except CommandError as error:
        return str(error)
    name, _, rest = line.partition(' ')
    as_json = execute(f'{name} --json {rest}', context)
    json.loads(as_json.json)
    return '\n'.join((answer.text(160), as_json.text(160), answer_bundle(answer)['text/html']))


@pytest.mark.parametrize('version', [2, 3])
@pytest.mark.parametrize('kind', ['real', 'fifo', 'loop', 'linked', 'folder', '/proc/kmsg', '/dev/zero', '/etc/passwd',
                                  '/proc/self/environ', '/nowhere/../proc/kmsg', 'a\0.py', '//host/share/x.py'])
def test_no_command_shows_a_file_that_a_trace_names(trace, tmp_path, kind, version):
    file = made(kind, tmp_path) if '\0' not in kind else kind
    names = {str(trace.parent / 'main.py'): file, str(trace.parent / 'helper.py'): file}

    def hostile(of, fields):
        fields = renamed(fields, names)
        if of == log_file.SOURCE:
            fields = with_its_hash(fields, file) if kind in ('linked', '/etc/passwd') else [*fields[:4], []]
        return fields if version == 3 else as_version_2(of, fields)
    secrets = [SECRET, 'root:x:0', 'PATH=']
    with Trace.open(rewritten(trace, tmp_path / 'hostile.pfd', hostile)) as opened:
        context = Context(opened)
        node = next(site.name for site in opened.sites() if site.function == 'half')
        with warnings.catch_warnings(record=True) as warned:    # `check` calls the function again, under its own filters
            said = ''.join(drawn(context, line.format(node=node, file=file, helper=file)) for line in LINES)
        assert {str(warning.message) for warning in warned} <= {'not a number'}
        for call in (*opened.calls(), *opened.calls(kind='gradient')):
            console = Console(width=200, record=True, file=io.StringIO())
            for part in _of_call(call).parts:
                console.print(part.shown)
            said += console.export_text() + bundle(call)['text/html'] + bundle(call)['text/plain']
    assert [secret for secret in secrets if secret in said] == []
    assert NOT_RECORDED in said or 'source differs' in said


def test_every_command_is_tried_here():
    assert {re.match(r'\w+', line)[0] for line in LINES} == {
        command.name for command in TABLE
        if not (command.needs_stop or command.needs_program
                or command.name in ('alias', 'unalias', 'habits', 'export', 'replay', 'audit'))}
