# cython: language_level=3
"""The usual call of a function, eager or of a graph, and the usual run of a session, compiled: where a recorder is all that looks on.

What is not usual is `NotImplemented`, and nothing has happened: `calls` and `runs` do it in Python. On the thread of the call.
"""
from sys import _getframe as get_frame
from types import FunctionType

from cpython.object cimport PyObject

from pyfuncdbg.adapters.tensorflow.graphs import _PLANS
from pyfuncdbg.adapters.tensorflow.causes import Causes
from pyfuncdbg.adapters.tensorflow.sites import MARK as _MARK, Entry
from pyfuncdbg.hooks.installed import hooks as _hooks
from pyfuncdbg.hooks.machinery import is_machinery
from pyfuncdbg.hooks.installed import Hooks
from pyfuncdbg.hooks.passage cimport Watch, looked_on, new_run, of_run, slot_get, slot_of

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object known, object key) except? NULL
    object PyLong_FromVoidPtr(void *place)
    PyObject *PyWeakref_GetObject(object reference) except NULL

cdef enum:
    MOST_PLACES = 4096

cdef object Function = FunctionType
cdef object hooks = _hooks, PLANS = _PLANS, MARK = _MARK
cdef Py_ssize_t STAMP = slot_of(Hooks, 'stamp'), ALONE = slot_of(Hooks, 'alone'), ABORTED = slot_of(Causes, 'aborted')
cdef Py_ssize_t QUICK = slot_of(Entry, 'quick'), LAST = slot_of(Entry, 'last')


cdef class Quick:
    """What looks on at present, and where calls and runs are found.

    Args:
        original: TensorFlow's `FuncRegistry.__call__`.
        registry: TensorFlow's registry of functions.
        causes: Knows of an abort on its way.
        runs: The runs that go on.
        place_of: Gives the place of an eager `numpy_function` by its name and function, for the line that stands on the stack.
        site_at: Makes a site of a place and a function.
    """

    cdef object original, registry, functions, causes, graphs, session_run, stamp
    cdef object thread, place_of, site_at
    cdef dict going, places
    cdef bint usual

    def __init__(self, original, registry, causes, runs, place_of, site_at):
        if type(causes) is not Causes:
            raise TypeError('causes')
        self.original = original
        self.registry = registry
        self.functions = registry._funcs.data   # its `get` is Python code
        self.causes = causes
        self.graphs = runs.graphs
        self.going = runs._going
        self.session_run = runs._sites['Session.run']
        self.thread = runs._thread
        self.place_of, self.site_at = place_of, site_at
        self.places = {}

    cdef object looking(self, str kind):
        """The recorder of calls of a kind, if recorders, one of each kind, are all that looks on; else None. It is not kept
        here: nothing may tell us that it is over."""
        # Read at once: no other thread comes between.
        stamp, alone = <object>slot_get(hooks, STAMP), <object>slot_get(hooks, ALONE)
        if stamp is not self.stamp:
            self.usual = not hooks.op and hooks.passive and _is_quick(alone['python']) and _is_quick(alone['run'])
            self.stamp = stamp
        return alone[kind] if self.usual else None

    def call(self, registry, token, device, args):
        """One call of a registered function."""
        cdef PyObject *found
        if registry is not self.registry or type(args) is not list or <object>slot_get(self.causes, ABORTED) is not None:
            return NotImplemented
        watcher = self.looking('python')
        if watcher is None:
            return NotImplemented
        found = PyDict_GetItemWithError(self.functions, token)
        if found is NULL:
            return NotImplemented
        entry = getattr(<object>PyWeakref_GetObject(<object>found), MARK, None)
        known = <object>slot_get(entry, QUICK) if entry is not None else None
        if known is None:
            return NotImplemented
        site, root, differentiable = <tuple>known
        found = PyDict_GetItemWithError(self.going, root)
        run = (<list>found)[-1] if found is not NULL and <list>found else self.graphs
        if <object>slot_get(run, of_run.control) is not None:
            return NotImplemented
        return looked_on(watcher, site, run, <list>args, entry if differentiable else None, LAST, self.original,
                         (registry, token, device, args))

    def plain(self, function, name, list inputs, tuple arrays):
        """One eager call of a `numpy_function`, by a frame of `Calls`; `inputs` are its arrays too."""
        if self.causes.aborted is not None:
            return NotImplemented
        watcher, run = self.looking('python'), getattr(self.thread, 'run', None)
        if watcher is None or run is None:
            return NotImplemented
        frame = get_frame(0)                    # that of `Calls`: there is none of what is compiled
        while frame is not None and is_machinery(frame.f_code.co_filename):
            frame = frame.f_back
        place = key = None
        if type(function) is Function and (name is None or type(name) is str):      # others may have no hash
            key = function.__code__, name       # code of other files may be equal
            if frame is not None:
                key += frame.f_code, frame.f_code.co_filename, frame.f_lasti
            place = self.places.get(key)
        if place is None:
            place = self.place_of(name, function)
            if key is not None and len(self.places) < MOST_PLACES:
                self.places[key] = place
        return looked_on(watcher, self.site_at(place, function), run, inputs, None, 0, function, arrays)

    def run(self, original, session, handle, targets, fetches, feeds, options, metadata, list fed):
        """One run of a session; the arguments are those of `BaseSession._do_run`, which is `original`, and what is fed."""
        cdef PyObject *found
        cdef list key, going
        if handle is not None:
            return NotImplemented
        watcher = self.looking('run')
        if watcher is None:
            return NotImplemented
        plans = getattr(getattr(session, '_graph', None), PLANS, None)      # its `graph` is Python code
        if plans is None:
            return NotImplemented
        key = []
        for thing in fetches:
            key.append(PyLong_FromVoidPtr(<void *>thing))
        key.append(None)
        for thing in targets:
            key.append(PyLong_FromVoidPtr(<void *>thing))
        key.append(None)
        for reference in feeds:
            thing = getattr(reference, '_wrapped', None)      # as is `deref`
            key.append(PyLong_FromVoidPtr(<void *>thing))
        found = PyDict_GetItemWithError(plans, tuple(key))
        if found is NULL:
            return NotImplemented
        plan = <object>found
        going = plan.going
        site = self.session_run
        run = new_run('Session.run', site.host, plan.announce, plan.feed_names, plan.fetch_names, plan.form)
        going.append(run)
        try:
            return looked_on(watcher, site, run, fed, None, 0, original,
                             (session, handle, targets, fetches, feeds, options, metadata))
        finally:
            going.remove(run)


cdef bint _is_quick(watcher) except -1:
    return watcher is not None and isinstance(getattr(watcher, 'halves', None), Watch) and not hasattr(watcher, 'wants')
