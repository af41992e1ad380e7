# cython: language_level=3
"""The passage of a call that one hook looks on at, compiled: what `chain.around` and `capture` do in Python.

Between two calls TensorFlow's own code empties the processor's caches, and bytecode that is not in them takes three times
as long as in a loop: a recorded call costs a third of what it costs in Python. What costs here is which code runs, not how
often: 20 ns for each 64 bytes of it that are in no cache, 30 to 150 for each page; so few different functions are called.
Optional: hosts that find no compiled passage go through `chain`. Runs on the thread of each call.
"""
import os
import sys
from contextvars import ContextVar
from time import perf_counter_ns as slow_clock

from cpython.object cimport PyObject, PyTypeObject
from cpython.contextvars cimport PyContextVar_Get, PyContextVar_Set
from cpython.ref cimport Py_DECREF, Py_REFCNT

from pyfuncdbg.hooks import call as calls
from pyfuncdbg.hooks.captured import numpy_errstate as errstate
from pyfuncdbg.hooks.captured import fp_errors as floating
from pyfuncdbg.hooks.call import Call, CallSite, Run, current as _current
from pyfuncdbg.hooks.capture import Capture
from pyfuncdbg.hooks.chain import _NONE, _switch_off, drop, fallen
from pyfuncdbg.hooks.captured.output import SILENCE as _SILENCE

cdef extern from *:
    """
    #include <time.h>
    /* What each thread knows of itself: asking the system takes 0.2 µs. */
    static int generation = 0;
    static _Thread_local int known_in = -1;
    static _Thread_local unsigned long known_id = 0;
    static inline unsigned long thread_id(void) {
        if (known_in != generation) {
            known_id = PyThread_get_thread_native_id();
            known_in = generation;
        }
        return known_id;
    }
    /* `time.perf_counter_ns`, which is this clock on Linux; 0 elsewhere. */
    static inline long long nanoseconds(void) {
    #ifdef __linux__
        struct timespec now;
        if (clock_gettime(CLOCK_MONOTONIC, &now) == 0) return now.tv_sec * 1000000000LL + now.tv_nsec;
    #endif
        return 0;
    }
    """
    int generation
    unsigned long thread_id()
    long long nanoseconds()

cdef extern from "Python.h":
    object PyType_GenericAlloc(PyTypeObject *kind, Py_ssize_t items)
    object PyObject_Call(object function, object arguments, PyObject *names)
    PyObject *PyDict_GetItemWithError(object known, object key) except? NULL

cdef object current = _current, SILENCE = _SILENCE, EMPTY = ()
cdef object errors = errstate.state, USUAL = errstate.DEFAULT
cdef dict names = sys.__dict__, watched = floating.states
cdef object numbers = calls._call_ids
cdef object make_call = Call, make_run = Run, run_numbers = calls._run_ids
cdef object ZERO = 0, RUN = 'run'
cdef enum:
    HELD = 1                                    # by the caller alone: what is given on is not held again


cdef Py_ssize_t slot_of(object kind, str name) except -1:
    """Where objects of a class with `__slots__` keep an attribute."""
    offset = slot_offset(getattr(kind, name))
    if offset < 0:
        raise ImportError(f'{kind.__name__}.{name} is no slot')
    return offset


def _slots(kind, names):
    if kind in (Call, Run) and set(names) != set(kind.__slots__):
        raise ImportError(f'{kind.__name__} has other slots: what is made here would lack some')
    return {name.lstrip('_'): slot_of(kind, name) for name in names}


of_call = <dict>_slots(Call, (
    'id', 'run', 'site', 'ordinal', 'thread', 'started', 'finished', 'inputs', 'outputs', 'error', 'output', 'forward',
    'sources', 'parent', 'speaker', 'standing', 'retry_of', 'saved'))
of_run = <dict>_slots(Run, (
    '_announce', '_sites',
    'id', 'endless', 'element', 'label', 'host', 'started', 'fed', 'feeds', 'fetches', 'control', 'aborted', 'stepwise', 'form',
    'thread', 'remark'))
of_site = <dict>_slots(CallSite, ('id', 'kind', 'counter'))
of_capture = <dict>_slots(Capture, ('_standing',))


def _forked():
    global generation
    generation += 1


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_forked)


cdef inline object clock():
    now = nanoseconds()
    return now if now else slow_clock()


cdef inline object value_of(object variable, object default):
    """The value of a context variable here."""
    cdef PyObject *found = NULL
    PyContextVar_Get(variable, <PyObject *>default, &found)
    result = <object>found
    Py_DECREF(result)
    return result


cdef object spare = None, spare_run = None
"""A call and a run that are over and that nobody else has kept: the next ones take their places."""


cdef object begun(object site, object run, object inputs, bint whole, object within):
    """As `call.new_call`."""
    global spare
    call, spare = spare, None
    if call is None:
        call = PyType_GenericAlloc(<PyTypeObject *>make_call, 0)
    slot_put(call, of_call.id, -<object>slot_get(run, of_run.id) if whole else next(numbers))
    slot_put(call, of_call.run, run)
    slot_put(call, of_call.site, site)
    slot_put(call, of_call.ordinal, next(<object>slot_get(site, of_site.counter)))
    slot_put(call, of_call.thread, <object>slot_get(run, of_run.thread) if whole else thread_id())
    slot_put(call, of_call.inputs, inputs)
    slot_put(call, of_call.outputs, None)
    slot_put(call, of_call.error, None)
    slot_put(call, of_call.output, None)
    slot_put(call, of_call.finished, ZERO)
    slot_put(call, of_call.forward, ZERO)
    slot_put(call, of_call.retry_of, ZERO)
    slot_put(call, of_call.saved, None)
    slot_put(call, of_call.sources, EMPTY)
    slot_put(call, of_call.parent, ZERO if within is None else <object>slot_get(within, of_call.id))
    slot_put(call, of_call.speaker, None if within is None else <object>slot_get(within, of_call.speaker))
    slot_put(call, of_call.started, clock())
    return call


cdef int over(object call) except -1:
    """Keep the object of a call that has returned, if nobody else does: to make and to free one is a lot of code."""
    global spare
    if spare is not None or Py_REFCNT(call) > HELD:
        return 0
    slot_put(call, of_call.run, None)
    slot_put(call, of_call.site, None)
    slot_put(call, of_call.inputs, None)
    slot_put(call, of_call.outputs, None)
    slot_put(call, of_call.output, None)
    slot_put(call, of_call.sources, None)
    slot_put(call, of_call.standing, None)
    if Py_REFCNT(call) <= HELD:                 # what these led to may have run code of the program's
        spare = call
    return 0


cdef object new_run(object label, object host, object announce, object feeds, object fed, object fetches, object form):
    """As `Run`, of what one call of a session asks for."""
    global spare_run
    run, spare_run = spare_run, None
    if run is None:
        run = PyType_GenericAlloc(<PyTypeObject *>make_run, 0)
    slot_put(run, of_run.id, next(run_numbers))
    slot_put(run, of_run.endless, False)
    slot_put(run, of_run.element, None)
    slot_put(run, of_run.label, label)
    slot_put(run, of_run.host, host)
    slot_put(run, of_run.started, clock())
    slot_put(run, of_run.feeds, feeds)
    slot_put(run, of_run.fed, fed)
    slot_put(run, of_run.fetches, fetches)
    slot_put(run, of_run.control, None)
    slot_put(run, of_run.aborted, None)
    slot_put(run, of_run.stepwise, False)
    slot_put(run, of_run.form, form)
    slot_put(run, of_run.thread, thread_id())
    slot_put(run, of_run.remark, '')
    slot_put(run, of_run.announce, announce)
    slot_put(run, of_run.sites, None)
    return run


cdef int run_over(object run) except -1:
    """As `over`, of a run that its caller alone has kept."""
    global spare_run
    if spare_run is not None or Py_REFCNT(run) > HELD:
        return 0
    slot_put(run, of_run.feeds, None)
    slot_put(run, of_run.fed, None)
    slot_put(run, of_run.fetches, None)
    slot_put(run, of_run.form, None)
    slot_put(run, of_run.announce, None)
    slot_put(run, of_run.sites, None)
    slot_put(run, of_run.control, None)
    if Py_REFCNT(run) <= HELD:
        spare_run = run
    return 0


cdef class Watch:
    """The two halves of a hook that only looks on, for callers that are compiled too."""

    cpdef object begins(self, object call):
        raise NotImplementedError

    cpdef object returned(self, object call, object kept, object outputs):
        raise NotImplementedError


cdef object looked_on(object watcher, object site, object run, list inputs, object holder, Py_ssize_t place,
                      object function, tuple arguments):
    """Execute one call that `watcher` looks on at, and nobody else: as `chain.around`.

    Args:
        watcher: The only hook of this kind; its `halves` are a `Watch`.
        site, run, inputs: As in `Call`.
        holder, place: Whose slot gets the call's id when it begins; None, where nobody asks.
        function: Makes the call, of these arguments.

    Returns:
        What `function` gave, as it is: of a list or tuple the elements are the outputs, None stands for none. Or
        `NotImplemented` where the call is not one that is looked on at; then nothing has happened.

    Raises:
        BaseException: What `function` raised, or that the run was aborted.
    """
    cdef Watch watch
    within = value_of(current, None)
    if <object>slot_get(run, of_run.aborted) is not None or (within is not None and not <object>slot_get(within, of_call.id)):
        return NotImplemented
    watch = <Watch?>watcher.halves
    call = begun(site, run, inputs, <object>slot_get(site, of_site.kind) is RUN, within)
    if holder is not None:
        slot_put(holder, place, <object>slot_get(call, of_call.id))
    try:
        raw = _passed(call, run, within, watcher, watch, function, arguments)
    finally:
        slot_put(call, of_call.speaker, None)
    over(call)
    return raw


cdef object _passed(object call, object run, object within, object watcher, Watch watch, object function,
                    tuple arguments):
    """As `chain._looked_on`."""
    cdef int before = generation
    try:
        kept = watch.begins(call)
    except Exception as error:                  # the hook is broken: the call goes on without it
        _switch_off(watcher, call, error)
        kept = _NONE
    PyContextVar_Set(current, call)
    try:
        raw = PyObject_Call(function, arguments, NULL)
    except BaseException as error:
        PyContextVar_Set(current, within)
        raise fallen(call, watcher, kept, error)
    slot_put(call, of_call.finished, clock())
    PyContextVar_Set(current, within)           # what a token does is other code, which is in no cache
    aborted = <object>slot_get(run, of_run.aborted)
    if aborted is not None:
        raise fallen(call, watcher, kept, aborted.with_traceback(None))
    outputs = raw if isinstance(raw, (list, tuple)) else EMPTY if raw is None else (raw,)
    slot_put(call, of_call.outputs, outputs)
    if kept is not _NONE:
        try:
            if generation != before:            # a child has others
                watch = <Watch?>watcher.halves
            watch.returned(call, kept, outputs)
        except BaseException as error:          # the hook is broken: the outputs stand
            drop(watcher, call, kept, error)
    return raw


if type(errors) is not ContextVar:
    raise ImportError('the error state of NumPy 1 is no context variable: `chain` knows how to switch it')


cdef class Hearing:
    """The two halves of a `Capture`."""

    def __init__(self, capture, process):
        self.capture = capture
        self.process = process
        self.inside, self.users = process.inside, process.users

    cdef object begin(self, object call):
        """As `Capture.begins`."""
        if <object>slot_get(call, of_call.speaker) is call:
            return None                         # another Capture outside of this one is at work
        self.inside.append(None)
        if not self.users:                      # stopped since this call read the list of hooks
            self.process.leave()
            return None
        cdef PyObject *out
        cdef PyObject *err
        cdef PyObject *known
        outer = <object>slot_get(call, of_call.speaker)
        try:
            standing = <object>slot_get(self.capture, of_capture.standing)
            out = PyDict_GetItemWithError(names, 'stdout')
            stdout = <object>out if out is not NULL else None
            err = PyDict_GetItemWithError(names, 'stderr')
            stderr = <object>err if err is not NULL else None
            try:
                held = stdout.write is (<tuple>standing)[3] and stderr.write is (<tuple>standing)[4]
            except AttributeError:              # the program has deleted one, or has none
                held = False
            if not held:
                standing = self.capture._look()
            output = <object>slot_get(call, of_call.output)
            if output is None:
                slot_put(call, of_call.output, SILENCE)
            elif output is not SILENCE:             # the function runs again
                output.open = True
            slot_put(call, of_call.standing, standing)
            user = value_of(errors, USUAL)
            if user is not self.user:
                known = PyDict_GetItemWithError(watched, user)
                self.within = <object>known if known is not NULL else floating.watched(user)
                self.user = user
            slot_put(call, of_call.speaker, call)
            PyContextVar_Set(errors, self.within)
        except BaseException:                   # of a signal handler of the program
            slot_put(call, of_call.speaker, outer)
            self.inside.pop()
            raise
        return outer, self.within, user

    cdef int end(self, object call, object heard) except -1:
        """As `Capture.returned`."""
        cdef tuple held = <tuple>heard
        outer = held[0]
        if value_of(errors, None) is held[1]:
            PyContextVar_Set(errors, held[2])
        elif outer is None:                     # in a nested call it stays watched, for the outer one
            floating.unwatch()
        slot_put(call, of_call.speaker, outer)
        output = <object>slot_get(call, of_call.output)
        if output is not SILENCE and output is not None:
            output.open = False
        self.inside.pop()
        if not self.users:
            self.process.undo_if_idle()
        return 0
