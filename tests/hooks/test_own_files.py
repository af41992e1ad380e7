"""Whose files are between the program's frames: ours, and those that a host declares of its framework."""
from __future__ import annotations

import os
import sys

import pytest

import pyfuncdbg.hosts
from pyfuncdbg.hooks import own_files
from pyfuncdbg.hooks.own_files import (
    declare_framework,
    is_adapter,
    is_host_class,
    is_machinery,
    is_own_file,
    is_program_file,
    outside_machinery,
)

HOSTS = os.path.dirname(pyfuncdbg.hosts.__file__)


@pytest.mark.parametrize(('filename', 'machinery'), [
    ('/v/lib/python3.11/site-packages/tensorflow/python/eager/context.py', True),
    ('C:\\v\\site-packages\\tensorflow\\python\\eager\\context.py', True),
    ('/usr/lib/python3/dist-packages/keras/src/trainers/trainer.py', True),
    ('/v/site-packages/tensorflow/lite/x.py', False),
    ('/v/site-packages/tensorflow_python/x.py', False),
    ('/program/tensorflow/python/x.py', False),
])
def test_hosts_declare_the_files_of_their_framework(filename: str, machinery: bool) -> None:
    assert is_machinery(filename) is machinery


def test_a_file_that_was_asked_about_before_its_framework_was_declared(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ('_packages', '_modules', '_adapters'):
        monkeypatch.setattr(own_files, name, getattr(own_files, name))
    monkeypatch.setattr(own_files, 'machinery_by_file', {'/bin/launcher': True})
    kind = type('Tensor', (), {'__module__': 'later.core'})
    asked = '/v/site-packages/later/a.b/x.py', '/v/site-packages/later/axb/x.py', '/bin/launcher'
    assert [is_machinery(filename) for filename in asked] == [False, False, True]
    assert not is_host_class(kind)
    declare_framework(('later/a.b',), ('later.',), 'hosts/later')
    assert [is_machinery(filename) for filename in asked] == [True, False, True]
    assert is_host_class(kind)
    assert is_adapter(os.path.join(HOSTS, 'later', 'host.py'))


def test_our_runtime_is_no_adapter() -> None:
    assert is_adapter(os.path.join(HOSTS, 'tensorflow', 'host.py'))
    assert not is_adapter(os.path.join(HOSTS, 'numpy', 'host.py'))
    assert not is_adapter(os.path.join(HOSTS, 'importing.py'))


def test_compiled_modules_are_ours_by_the_name_that_they_were_compiled_under() -> None:
    assert is_own_file('pyfuncdbg/hosts/tensorflow/call_fast_path.py')
    assert not is_own_file('/build/pyfuncdbg/hooks/call.py')
    assert not is_own_file('notpyfuncdbg/hooks/call.py')


def test_the_way_out_of_the_machinery_ends_at_the_first_frame_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    here = sys._getframe()
    assert outside_machinery(here) is here
    monkeypatch.setitem(own_files.machinery_by_file, here.f_code.co_filename, True)
    assert outside_machinery(here) is here.f_back
    frame = here
    while frame is not None:
        monkeypatch.setitem(own_files.machinery_by_file, frame.f_code.co_filename, True)
        frame = frame.f_back
    assert outside_machinery(here) is None


@pytest.mark.parametrize(('filename', 'program'), [
    ('/home/ann/checkout/pyfuncdbg/hosts/numpy/ops/script/function.py', False),
    ('/v/lib/python3.12/site-packages/pyfuncdbg/hooks/chain.py', False),
    ('/home/ann/pyfuncdbg/demo/train.py', True),
    ('/home/ann/pyfuncdbg/train.py', True),
    ('/home/ann/model.py', True),
])
def test_of_a_trace_from_another_machine_our_files_are_none_of_the_program(filename: str, program: bool) -> None:
    assert is_program_file(filename) is program
