"""Environment of a recorded program: the versions, the machine and the settings that its numbers may depend on.

Written once for each process, on the thread that opens its log; of a host when its first site is announced.
"""
from __future__ import annotations

import os
import platform
import sys
from collections.abc import Iterable
from importlib.machinery import ExtensionFileLoader
from typing import Any

import numpy as np

from pyfuncdbg.hooks import call as call_module

_LONGEST = 200
_VARIABLES = ('OMP_NUM_THREADS', 'OPENBLAS_NUM_THREADS', 'MKL_NUM_THREADS', 'BLIS_NUM_THREADS', 'VECLIB_MAXIMUM_THREADS',
              'OPENBLAS_CORETYPE', 'MKL_CBWR', 'NPY_DISABLE_CPU_FEATURES', 'PYTHONHASHSEED', 'CUDA_VISIBLE_DEVICES')
"""Environment variables: threads and instructions of linear algebra, the order of sets."""
_CPU_INFO, _HEAD = '/proc/cpuinfo', 2048


def process_environment() -> dict[str, Any]:
    """The environment of this process. Reads no metadata of packages, which takes milliseconds.

    Returns:
        'versions', 'machine', 'settings' and 'compiled', as plain data.
    """
    versions = process_versions()
    del versions['Python']                      # a trace has it elsewhere
    return {'versions': versions, 'machine': _machine(), 'settings': settings(_VARIABLES), 'compiled': is_compiled()}


def is_compiled() -> bool:
    """Whether compiled modules of this package record.

    Returns:
        False where it was installed without a compiler: all is as correct, and recording takes more time.
    """
    return isinstance(call_module.__loader__, ExtensionFileLoader)


def process_versions() -> dict[str, str]:
    """The versions of Python and of the libraries that every program has.

    Returns:
        By name.
    """
    own = sys.modules[__name__.partition('.')[0]].__version__
    return {'Python': platform.python_version(), 'pyfuncdbg': own, 'NumPy': np.__version__}


def settings(names: Iterable[str]) -> dict[str, str]:
    """The environment variables that are set.

    Args:
        names: Of those to look at.

    Returns:
        Their values by name.
    """
    return {name: value[:_LONGEST] for name in names if (value := os.environ.get(name)) is not None}


def _machine() -> str:
    """'Linux x86_64, Intel(R) Xeon(R) CPU @ 2.20GHz, 2 CPUs': the CPUs that the program may use."""
    system = os.uname()
    usable = len(os.sched_getaffinity(0)) if hasattr(os, 'sched_getaffinity') else os.cpu_count() or 0
    parts = [f'{system.sysname} {system.machine}', _cpu_model(), f'{usable} CPU{"s" if usable != 1 else ""}']
    return ', '.join(filter(None, parts))[:_LONGEST]


def _cpu_model() -> str:
    """The model of the first CPU, '' where the system does not say."""
    try:
        with open(_CPU_INFO, 'rb', buffering=0) as file:
            head = file.read(_HEAD).decode(errors='replace')
    except OSError:
        return ''
    return next((line.partition(':')[2].strip() for line in head.splitlines() if line.startswith('model name')), '')
