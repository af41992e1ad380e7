"""A context over the built-in sample trace."""
from __future__ import annotations

import pytest

from pyfuncdbg.ui.commands.engine.command import Context
from pyfuncdbg.ui.views.sample_trace import sample


@pytest.fixture(scope='session')
def context():
    return Context(sample(), width=100)
