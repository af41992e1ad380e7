"""Runs programs one after the other in one process, for to import TensorFlow takes longer than any of them.

`several_programs.py PROGRAM ... [-- ARGUMENT ...]`: what each prints comes after a line with its name.
"""
import runpy
import sys
from pathlib import Path

programs, arguments = sys.argv[1:], []
if '--' in programs:
    at = programs.index('--')
    programs, arguments = programs[:at], programs[at + 1:]
kept = []                                       # what a program has made stays until the end, as it does if it is alone
for program in programs:
    print(f'== {Path(program).stem}', flush=True)
    sys.argv = [program, *arguments]
    kept.append(runpy.run_path(program, run_name='__main__'))
