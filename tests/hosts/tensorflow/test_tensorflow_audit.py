"""Audit of a program of the real TensorFlow, in a fresh interpreter: each function has its labels and no other."""
from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow
ROOT = Path(__file__).resolve().parents[3]
PROPERTIES: dict[str, set[str]] = {
    'pure': set(), 'pure_ops': set(), 'of_element': set(), 'alias': {'returns an alias of an input'},
    'draws': {'draws random numbers'}, 'draws_ops': {'draws random numbers'}, 'augments': {'draws random numbers'},
    'counts': {'writes a global', 'reads a global', 'depends on order'},
    'prints': {'prints', 'returns an alias of an input'}, 'of_time': {'depends on time'},
    'writes_input': {'writes an input'}}


def test_each_function_has_its_labels_and_no_pure_one_has_any(tmp_path: Path) -> None:
    shutil.copy(Path(__file__).with_name('audited_program.py'), tmp_path / 'train.py')
    environment = {**os.environ, 'PYTHONPATH': str(ROOT)}
    for args in (['run', '--record', 't.pfd', 'train.py'], ['show', 't.pfd', 'audit', '--json']):
        done = subprocess.run([sys.executable, '-m', 'pyfuncdbg', *args], cwd=tmp_path, env=environment, text=True,
                              capture_output=True, timeout=200)
        assert done.returncode == 0, done.stderr
    sites = {site['function']: site for site in json.loads(done.stdout)['sites']}
    assert {name: {finding['label'] for finding in site['findings']} for name, site in sites.items()} == PROPERTIES
    assert {name for name, site in sites.items() if site['purity'] == 'pure'} == {'pure', 'pure_ops', 'of_element', 'alias'}
    uses = {name: [use['answer'] for use in site['dataset']] for name, site in sites.items() if site['dataset']}
    assert uses == {'of_element': ['yes', 'yes', 'yes'], 'augments': ['no', 'no', 'no']}
