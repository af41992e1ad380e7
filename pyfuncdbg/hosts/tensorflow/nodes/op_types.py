"""Op types of TensorFlow used in several places; other facts of an op are among its traits."""
from __future__ import annotations

EAGER, NUMPY, STATELESS = 'EagerPyFunc', 'PyFunc', 'PyFuncStateless'
SCRIPTS = frozenset((EAGER, NUMPY, STATELESS))
"""Ops that call a Python function of the program."""
VARIABLES = frozenset(('VariableV2', 'Variable'))
"""Variables whose value is handed on as a reference."""
SCOPE = 'pyfuncdbg/'
"""Prefix of the names of nodes that we add to a function's graph."""
SWITCHES = frozenset(('Switch', 'RefSwitch'))
