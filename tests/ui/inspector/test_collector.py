"""What is loaded before the screen is shown is never looked through by the garbage collector again, whoever shows it."""
from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest
from inspecting import ROOT

SEEN = '''
import gc, json, socket, sys
from types import SimpleNamespace
from textual.app import App
before = gc.get_freeze_count()
found = {}
def run(self):
    found.update(app=type(self).__name__, enabled=gc.isenabled(), frozen=gc.get_freeze_count() - before,
                 young=gc.get_threshold()[0], loaded='textual.widgets._input' in sys.modules)
App.run = run
'''
WAYS = {
    'launch': ('Inspector', '''
from pyfuncdbg.ui.inspector import launch
launch.unusable = lambda: ''
launch.open_trace(sys.argv[1])
'''),
    'hosted': ('HostedInspector', '''
from pyfuncdbg.ui.inspector.hosting import screen_process
screen_process._run_inspector({'trace': sys.argv[1], 'commands': ''}, SimpleNamespace(code=0))
'''),
    'live view': ('LiveView', '''
from pyfuncdbg.ui.inspector.hosting import screen_process
screen_process._run_live_view({'trace': sys.argv[1], 'title': 'script'}, SimpleNamespace(code=0))
'''),
    'lent': ('Inspector', '''
from pyfuncdbg.ui.inspector.lease import lent_process
from pyfuncdbg.ui.inspector.desks import live_program
from pyfuncdbg.ui.inspector.lease import lent_driver
from pyfuncdbg.ui.prompt.connecting import connection
connection.Connection = lambda opened: None
live_program.LiveDesk = lambda connection, attach: SimpleNamespace(live=True, note_printed=None)
lent_driver.driver_for = lambda lease: None
mine, theirs = socket.socketpair()
lent_process._show(SimpleNamespace(tell=lambda text: None), mine.detach())
''')}


@pytest.mark.parametrize('way', WAYS)
def test_what_is_loaded_is_spared(trace, tmp_path, way) -> None:
    app, shows = WAYS[way]
    program = SEEN + shows + 'print(json.dumps(found))'
    ran = subprocess.run([sys.executable, '-c', program, str(trace)], timeout=60, text=True,
                         env=dict(os.environ, PYTHONPATH=str(ROOT), HOME=str(tmp_path)), capture_output=True, check=False)
    assert ran.returncode == 0, ran.stderr
    found = json.loads(ran.stdout.splitlines()[-1])
    assert found['app'] == app and found['enabled'] and found['young'] == 2_000
    assert found['frozen'] > 20_000 and (found['loaded'] or way == 'live view')
