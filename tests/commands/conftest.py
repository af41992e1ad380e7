"""A context over the built-in sample trace."""
from __future__ import annotations

import pytest

from pyfuncdbg.commands.command import Context
from pyfuncdbg.views.sample import sample


@pytest.fixture(scope='session')
def context():
    return Context(sample(), width=100)
