"""Sessions with hooks: a program says the same as under TensorFlow 2.21, whose answers these are."""
from __future__ import annotations

import re
import subprocess
import sys

import numpy as np
import pytest
from scripted_user import ScriptedUser

import pyfuncdbg
from pyfuncdbg import tf

v1 = tf.compat.v1

PROGRAM = """
import numpy as np
tf.compat.v1.disable_eager_execution()
v1 = tf.compat.v1

class Hook(v1.train.SessionRunHook):
    def __init__(self, name, at=None):
        self.name, self.at, self.runs = name, at, 0

    def begin(self):
        print(self.name, 'begin', v1.get_default_graph().finalized)
        self.twice = y * 2.0

    def after_create_session(self, session, coord):
        print(self.name, 'created', session.run(w), coord.should_stop())

    def before_run(self, run_context):
        args = run_context.original_args
        print(self.name, 'before', args.fetches is train, sorted(args.feed_dict.values()), run_context.stop_requested)
        return v1.train.SessionRunArgs({'twice': self.twice}, {scale: 10.0} if self.at else None)

    def after_run(self, run_context, run_values):
        self.runs += 1
        print(self.name, 'after', run_values.results)
        if self.runs == self.at:
            run_context.request_stop()

    def end(self, session):
        print(self.name, 'end', session.run(w))

def double(x):
    return x + x

x = v1.placeholder(tf.float32, [], name='x')
scale = v1.placeholder_with_default(1.0, [], name='scale')
w = v1.Variable(3.0, name='w')
y = tf.numpy_function(double, [x], tf.float32, name='double') * scale
train = v1.assign_add(w, 1.0)

def attempt(what):
    try:
        print('gave', what())
    except Exception as error:
        print(type(error).__name__, str(error)[:44])

hooks = [Hook('one', 3), Hook('two')]
with v1.train.MonitoredSession(hooks=hooks) as sess:
    print(v1.get_default_graph().finalized, sess.graph is v1.get_default_graph())
    attempt(lambda: sess.run(train, {x: 1.0, scale: 2.0}))
    while not sess.should_stop():
        print('run', sess.run(train, {x: 1.0}))
    attempt(lambda: sess.run(train, {x: 1.0}))
print(sess.should_stop(), sess.graph, v1.get_default_graph().finalized)
attempt(sess.close)

class Ends(v1.train.SessionRunHook):
    def end(self, session):
        print('end')

for error in (StopIteration(), tf.errors.OutOfRangeError(None, None, 'over'), KeyError('mine')):
    try:
        with v1.train.MonitoredSession(hooks=[Ends()]) as sess:
            raise error
    except KeyError as raised:
        print('raised', raised)
    print(type(error).__name__, sess.should_stop())

def body(step_context):
    print('inside', step_context.session.run(w), step_context.run_with_hooks(train, {x: 1.0}))
    step_context.request_stop()

with v1.train.MonitoredSession(hooks=[Ends()]) as sess:
    attempt(lambda: sess.run_step_fn(lambda wrong: None))
    sess.run_step_fn(body)
    print('never')

class Creator:
    def create_session(self):
        made = v1.Session()
        made.run(w.initializer, {w.initial_value: 7.0})
        return made

with v1.train.MonitoredSession(Creator()) as sess:
    print(sess.run([w, {'y': y}], {x: 2.0}))
with v1.train.MonitoredSession(v1.train.ChiefSessionCreator(v1.train.Scaffold(init_op=v1.assign(w, 5.0),
                               init_fn=lambda scaffold, session: session.run(train)))) as sess:
    print(sess.run(w))
"""

SAID = """\
one begin False
two begin False
one created 3.0 False
two created 3.0 False
True True
one before True [1.0, 2.0] False
two before True [1.0, 2.0] False
RuntimeError Same tensor is fed by a SessionRunHook and u
one before True [1.0] False
two before True [1.0] False
one after {'twice': np.float32(40.0)}
two after {'twice': np.float32(40.0)}
run 4.0
one before True [1.0] False
two before True [1.0] False
one after {'twice': np.float32(40.0)}
two after {'twice': np.float32(40.0)}
run 5.0
one before True [1.0] False
two before True [1.0] False
one after {'twice': np.float32(40.0)}
two after {'twice': np.float32(40.0)}
run 6.0
RuntimeError Run called even after should_stop requested.
one end 6.0
two end 6.0
True None False
RuntimeError Session is already closed.
end
StopIteration True
end
OutOfRangeError True
raised 'mine'
KeyError True
ValueError `step_fn` may either have one `step_context`
inside 3.0 4.0
end
[np.float32(7.0), {'y': np.float32(4.0)}]
6.0
"""


if np.__version__.startswith('1.'):              # which says less of its scalars
    SAID = re.sub(r'np\.float32\(([\d.]+)\)', r'\1', SAID)


def said(first: str) -> str:
    done = subprocess.run([sys.executable, '-c', first + PROGRAM], capture_output=True, text=True, timeout=110)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_hooks_are_called_as_by_tensorflow() -> None:
    assert said('from pyfuncdbg import tf') == SAID


@pytest.mark.tensorflow
def test_tensorflow_says_the_same() -> None:
    assert said('import tensorflow as tf') == SAID


class Watching(v1.train.SessionRunHook):
    """Fetches one more tensor, and runs another one by itself."""

    def __init__(self, tensor):
        self.tensor = tensor
        self.seen = []

    def before_run(self, run_context):
        return v1.train.SessionRunArgs(self.tensor)

    def after_run(self, run_context, run_values):
        self.seen.append(float(run_values.results))
        if len(self.seen) == 2:
            run_context.request_stop()


@pytest.mark.parametrize('inside', [False, True])
def test_a_monitored_session_is_debugged_from_outside_and_from_inside(inside) -> None:
    class Creator:
        def create_session(self):
            session = v1.train.ChiefSessionCreator().create_session()
            return pyfuncdbg.DebugSession(session) if inside else session

    with tf.Graph().as_default(), ScriptedUser(['run'] * 20) as user:
        count = v1.Variable(0.0)
        step = v1.assign_add(count, 1.0)
        twice = tf.numpy_function(lambda x: np.float32(x * 2), [step], tf.float32, name='twice')
        hook = Watching(twice)
        session = v1.train.MonitoredSession(Creator(), [hook])
        if not inside:
            session = pyfuncdbg.DebugSession(session)
        assert isinstance(session, v1.train.MonitoredSession) and session.graph is tf.get_default_graph()
        with session as entered:
            assert entered is session
            while not session.should_stop():
                session.run(step)
        assert hook.seen == [2.0, 4.0] and user.phases == ['run', 'end'] * 2
        assert session.should_stop() and session.graph is None


def test_what_an_assignment_gives_is_fetched_without_a_new_node() -> None:
    with tf.Graph().as_default() as graph, tf.Session() as session:
        count = v1.Variable(0.0)
        step = v1.assign_add(count, 1.0)
        graph.finalize()
        session.run(count.initializer)
        assert [session.run(step) for _ in range(3)] == [1.0, 2.0, 3.0]
