"""`python -m pyfuncdbg.ui.inspector TRACE`: the same as `pyfuncdbg open TRACE`."""
from __future__ import annotations

import sys

from pyfuncdbg.errors import PyfuncdbgError
from pyfuncdbg.ui.inspector.launch import open_trace
from pyfuncdbg.ui.views.escape import one_line


def main() -> int:
    """The exit code."""
    if len(sys.argv) != 2 or sys.argv[1].startswith('-'):
        print('usage: python -m pyfuncdbg.ui.inspector TRACE', file=sys.stderr)
        return 2
    try:
        return open_trace(sys.argv[1])
    except PyfuncdbgError as error:
        print(f'pyfuncdbg: {one_line(str(error))}', file=sys.stderr)
        return 2


if __name__ == '__main__':
    sys.exit(main())
