# cython: language_level=3
"""What `capture` does in Python, compiled, and what each thread knows of itself.

Optional. Runs on the thread of each call.
"""
import os
import sys
from contextvars import ContextVar
from time import perf_counter_ns as slow_clock

from cpython.object cimport PyObject
from cpython.contextvars cimport PyContextVar_Get, PyContextVar_Set
from cpython.ref cimport Py_DECREF

from pyfuncdbg.hooks.captured import numpy_errstate as errstate
from pyfuncdbg.hooks.captured import fp_errors as floating
from pyfuncdbg.hooks.call cimport Call
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
    PyObject *PyDict_GetItemWithError(object known, object key) except? NULL

cdef object SILENCE = _SILENCE, EMPTY = ()
cdef object errors = errstate.state, USUAL = errstate.DEFAULT
cdef dict names = sys.__dict__, watched = floating.states


def _forked():
    global generation
    generation += 1


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_forked)


cdef object this_thread():
    """The native id of this thread."""
    return thread_id()


cdef object clock():
    """As `time.perf_counter_ns`."""
    now = nanoseconds()
    return now if now else slow_clock()


cdef inline object value_of(object variable, object default):
    """The value of a context variable here."""
    cdef PyObject *found = NULL
    PyContextVar_Get(variable, <PyObject *>default, &found)
    result = <object>found
    Py_DECREF(result)
    return result


cdef class Watch:
    """The two halves of a hook that only looks on, for callers that are compiled too."""

    cpdef object begins(self, Call call):
        raise NotImplementedError

    cpdef object returned(self, Call call, object kept, object outputs):
        raise NotImplementedError


if type(errors) is not ContextVar:
    raise ImportError('the error state of NumPy 1 is no context variable: `chain` knows how to switch it')


cdef class Hearing:
    """The two halves of a `Capture`."""

    def __init__(self, capture, process):
        self.capture = capture
        self.process = process
        self.inside, self.users = process.inside, process.users

    cdef object begin(self, Call call):
        """As `Capture.begins`."""
        if call.speaker is call:
            return None                         # another Capture outside of this one is at work
        self.inside.append(None)
        if not self.users:                      # stopped since this call read the list of hooks
            self.process.leave()
            return None
        cdef PyObject *out
        cdef PyObject *err
        cdef PyObject *known
        outer = call.speaker
        try:
            standing = self.capture._standing
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
            output = call.output
            if output is None:
                call.output = SILENCE
            elif output is not SILENCE:             # the function runs again
                output.open = True
            call.standing = standing
            user = value_of(errors, USUAL)
            if user is not self.user:
                known = PyDict_GetItemWithError(watched, user)
                self.within = <object>known if known is not NULL else floating.watched(user)
                self.user = user
            call.speaker = call
            PyContextVar_Set(errors, self.within)
        except BaseException:                   # of a signal handler of the program
            call.speaker = outer
            self.inside.pop()
            raise
        return outer, self.within, user

    cdef int end(self, Call call, object heard) except -1:
        """As `Capture.returned`."""
        cdef tuple held = <tuple>heard
        outer = held[0]
        if value_of(errors, None) is held[1]:
            PyContextVar_Set(errors, held[2])
        elif outer is None:                     # in a nested call it stays watched, for the outer one
            floating.unwatch()
        call.speaker = outer
        output = call.output
        if output is not SILENCE and output is not None:
            output.open = False
        self.inside.pop()
        if not self.users:
            self.process.undo_if_idle()
        return 0
