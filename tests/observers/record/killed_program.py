"""A program to be killed: records calls of two sizes and says in a side file which have finished, and when: by the clock,
and by the processor time of the program, which does not go on while the machine is busy elsewhere.

    python killed_program.py TRACE SIDEFILE [SEGMENT]
"""
from __future__ import annotations

import os
import sys
import time
from functools import partial

import numpy as np
from plain_host import HOST, new_run, new_site

from pyfuncdbg.hooks import chain
from pyfuncdbg.observers.record.log.log_segments import USUAL_SEGMENT
from pyfuncdbg.observers.record.recorder import Recorder


def main(trace: str, side: str, segment: str = str(USUAL_SEGMENT)) -> None:
    log = os.open(side, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    run = new_run()
    ids: list[int] = []
    small = partial(chain.invoke, new_site(None, 'small'), lambda x: ids.append(chain.current_call()) or [x])
    large = partial(chain.invoke, new_site(None, 'large'), lambda x: ids.append(chain.current_call()) or [x * 2])
    Recorder(trace, segment=int(segment)).start()
    os.write(log, f'started {HOST.name}\n'.encode())
    step = 0
    while True:
        small(run, [np.float32(step)])
        large(run, [np.full(500, step, np.float32)])
        if step % 20 == 0:
            os.write(log, f'{time.time()} {time.process_time()} {ids[-1]}\n'.encode())
            time.sleep(0.002)
        step += 1


if __name__ == '__main__':
    main(*sys.argv[1:])
