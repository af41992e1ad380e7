"""How programs of TensorFlow 1 start and write their log."""
from __future__ import annotations

import subprocess
import sys

PROGRAM = '''
import pyfuncdbg.tf as tf
log = tf.compat.v1.logging

def main(argv):
    log.info('not shown')
    log.warning('seen %d', 1)
    log.set_verbosity(log.INFO)
    for i in range(4):
        log.log_every_n(log.INFO, 'every %d', 2, i)
        log.log_first_n(log.INFO, 'first %d', 1, i)
    print(argv[1:], tf.get_logger().name)
    return 3

if __name__ == '__main__':
    tf.compat.v1.app.run(main)
'''


def test_app_run_leaves_with_what_main_returns_and_logs() -> None:
    done = subprocess.run([sys.executable, '-c', PROGRAM, 'a', 'b'], capture_output=True, text=True, timeout=60)
    assert done.returncode == 3 and done.stdout == "['a', 'b'] tensorflow\n"
    logged = [line.partition('tensorflow:')[2] for line in done.stderr.splitlines()]
    assert logged == ['seen 1', 'every 0', 'first 0', 'every 2']
