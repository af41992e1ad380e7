"""Names of the modules that a new interpreter has loaded when a program begins; a script that `shadowing` starts.

A file, not `python -c`: that loads more from Python 3.13 on.
"""
import os
import sys

if __name__ == '__main__':
    os.write(1, '\0'.join(['', *sys.modules, '']).encode())
