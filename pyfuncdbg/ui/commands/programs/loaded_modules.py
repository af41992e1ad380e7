"""Names of the modules that a new interpreter has loaded when a program begins; a script that `shadowed_modules` starts.

A file, not `python -c`: that loads more from Python 3.13 on. It ends at once: threads and exit handlers that the site files
have started are the program's, which ends with its own.
"""
import os
import sys

if __name__ == '__main__':
    with open(1, 'wb') as answer:
        answer.write('\0'.join(['', *sys.modules, '']).encode())
    os._exit(0)
