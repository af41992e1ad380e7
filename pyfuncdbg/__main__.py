"""`python -m pyfuncdbg`: the command line."""
import sys

from pyfuncdbg.cli import main

if __name__ == '__main__':
    sys.exit(main())
