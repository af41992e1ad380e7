"""The frames of all threads, while garbage is collected and threads end."""
from __future__ import annotations

import subprocess
import sys
import threading

from pyfuncdbg.hooks.current_frames import current_frames

# Collecting is due with the next object, its garbage lets threads run, and they end.
_PROGRAM = '''
import gc, threading, time
from pyfuncdbg.hooks.current_frames import current_frames

class Cycle:
    def __init__(self):
        self.me = self

    def __del__(self):
        time.sleep(0.001)

for _ in range(15):
    threads = [threading.Thread(target=time.sleep, args=(0.002,)) for _ in range(20)]
    gc.collect()
    gc.disable()
    for _ in range(20):
        Cycle()
    gc.set_threshold(1)
    for thread in threads:
        thread.start()
    gc.enable()
    current_frames()
    assert gc.isenabled()
    for thread in threads:
        thread.join()
print('ended')
'''


def test_threads_that_end_while_garbage_is_collected() -> None:
    assert subprocess.run([sys.executable, '-c', _PROGRAM], capture_output=True, text=True, timeout=60,
                          check=True).stdout == 'ended\n'


def test_the_innermost_frame_of_each_thread() -> None:
    entered, leave = threading.Event(), threading.Event()

    def waits() -> None:
        entered.set()
        leave.wait()

    thread = threading.Thread(target=waits)
    thread.start()
    entered.wait()
    try:
        frames = current_frames()
        names = []
        frame = frames[thread.ident or 0]
        while frame is not None:
            names.append(frame.f_code.co_name)
            frame = frame.f_back
        assert 'waits' in names
        assert frames[threading.get_ident()].f_code is current_frames.__code__
    finally:
        leave.set()
        thread.join()
