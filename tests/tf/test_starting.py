"""How programs of TensorFlow 1 start and write their log."""
from __future__ import annotations

import subprocess
import sys
from pathlib import Path

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


LATE = ('numpy.random', 'pyfuncdbg.hosts.numpy.runtime.sessions.session', 'pyfuncdbg.hosts.numpy.runtime.plans.plan',
        'pyfuncdbg.hosts.numpy.runtime.traces.traced_function', 'pyfuncdbg.hosts.numpy.ops.script.calls',
        'pyfuncdbg.hosts.numpy.ops.autograph', 'pyfuncdbg.hosts.numpy.ops.all_ops')


def test_a_program_of_eager_ops_loads_no_sessions_plans_or_traces() -> None:
    program = f"""
import sys
from pyfuncdbg import tf
print((tf.constant([1, 2]) + tf.ones(2, tf.int32)).numpy(), [name for name in {LATE} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
    numpy1 = 'numpy.random' in subprocess.run([sys.executable, '-c', 'import sys, numpy; print(*sys.modules)'],
                                              capture_output=True, text=True, timeout=60).stdout.split()
    assert (done.stdout, done.stderr) == (f"[2 3] {['numpy.random'] * numpy1}\n", '')


def test_the_import_alone_loads_nothing_of_the_runtime() -> None:
    program = 'import sys, pyfuncdbg.tf; print(*[m for m in sys.modules if m.startswith("numpy") or ".ops" in m])'
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ('\n', '')


def test_a_session_loads_no_protobuf() -> None:
    program = """
import sys
from pyfuncdbg import tf
with tf.Graph().as_default(), tf.compat.v1.Session() as session:
    print(session.run(tf.numpy_function(lambda x: x + 1, [tf.constant([1, 2])], tf.int32)), 'google.protobuf' in sys.modules)
"""
    done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ('[2 3] False\n', '')


def test_what_is_loaded_late_is_there_in_any_order() -> None:
    """Each name is the first that its process asks for."""
    for name in ('Session', 'Variable', 'function', 'gradients', 'py_function', 'py_func', 'compat.v1.get_variable',
                 'autograph.to_graph', 'compat.v1.gradients', 'GradientTape', 'raw_ops.AddV2', 'data.Dataset'):
        program = f'from pyfuncdbg import tf; print(callable(tf.{name}))'
        done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
        assert (done.stdout, done.stderr) == ('True\n', ''), name


def test_a_converted_function_is_the_first_thing_that_a_program_makes(tmp_path: Path) -> None:
    program = tmp_path / 'program.py'
    program.write_text("""
from pyfuncdbg import tf

@tf.function
def sign(x):
    if x > 0:
        return 1
    return -1

print(sign(tf.constant(3)).numpy(), sign(tf.constant(-3)).numpy())
""")
    done = subprocess.run([sys.executable, program], capture_output=True, text=True, timeout=60)
    assert (done.stdout, done.stderr) == ('1 -1\n', '')


def test_a_variable_has_all_its_methods_however_it_was_made() -> None:
    for made in ('tf.Variable([1.0, 2.0])', 'tf.compat.v1.get_variable("v", [2], use_resource=True)'):
        program = f'from pyfuncdbg import tf; v = {made}; print(hasattr(v, "scatter_nd_update"), hasattr(v, "sparse_read"))'
        done = subprocess.run([sys.executable, '-c', program], capture_output=True, text=True, timeout=60)
        assert (done.stdout, done.stderr) == ('True True\n', ''), made
