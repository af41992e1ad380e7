"""Tables by code object: by identity, and gone with the code, also while Python shuts down."""
from __future__ import annotations

import subprocess
import sys

from pyfuncdbg.hooks.code_table import CodeTable


def test_equal_code_objects_are_two_entries_that_go_with_them() -> None:
    table = CodeTable[str]()
    first, second = (compile('1', 'x.py', 'eval') for _ in range(2))
    assert first == second
    table.put(first, 'first')
    assert table.get(first) == 'first' and table.get(second) is None
    del first
    assert not table.entries


def test_nothing_is_said_of_code_that_dies_when_globals_are_gone() -> None:
    program = '''if True:
        import builtins, sys
        from pyfuncdbg.hooks import code_table
        class Late:
            def __del__(self):
                print('late')
        table, code = code_table.CodeTable(), compile('1', 'x.py', 'eval')
        table.put(code, Late())
        vars(code_table).clear()
        del code
    '''
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ('late\n', '')
