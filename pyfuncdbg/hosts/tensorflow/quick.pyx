# cython: language_level=3
"""The usual call of a function, eager or of a graph, and the usual run of a session, compiled: where a recorder is all that looks on.

What is not usual is `NotImplemented`, and nothing has happened: `calls` and `runs` do it in Python. On the thread of the call.
"""
from sys import _getframe as get_frame
from types import FunctionType

from cpython.object cimport PyObject

from pyfuncdbg.hosts.tensorflow.python_calls.declared_outputs import eager_outputs
from pyfuncdbg.hosts.tensorflow.python_calls.user_function import user_function
from pyfuncdbg.hosts.tensorflow.sessions.session_plan import _PLANS
from pyfuncdbg.hosts.tensorflow.nodes.op_types import EAGER, NUMPY
from pyfuncdbg.hosts.tensorflow.python_calls.sites import MARK as _MARK, at_place
from pyfuncdbg.hooks.installed_hooks import hooks as _hooks
from pyfuncdbg.hooks.own_files import is_machinery, judged as _judged
from pyfuncdbg.hooks.call cimport CallSite, Run
from pyfuncdbg.hooks.passage cimport Watch, clock, looked_on, this_thread

cdef extern from "Python.h":
    PyObject *PyDict_GetItemWithError(object known, object key) except? NULL
    object PyLong_FromVoidPtr(void *place)
    PyObject *PyWeakref_GetObject(object reference) except NULL

cdef enum:
    MOST_PLACES = 4096

cdef object Function = FunctionType
cdef object hooks = _hooks, PLANS = _PLANS, MARK = _MARK
cdef dict judged = _judged

cdef class Quick:
    """What looks on at present, and where calls and runs are found.

    Args:
        refusals: Calls functions as TensorFlow does.
        registry: TensorFlow's registry of functions.
        causes: Knows of an abort on its way.
        runs: The runs that go on.
        sites: Finds the place of an eager call, for the line that stands on the stack.
        gradients: Is told of eager calls that may have backward steps.
        site_at: Makes a site of a place and the function of an eager `numpy_function`.
    """

    cdef object original, plainly, registry, functions, causes, graphs, host, stamp
    cdef CallSite session_run
    cdef object thread, sites, gradients, site_at, eager_function
    cdef dict going, places
    cdef bint usual

    def __init__(self, refusals, registry, causes, runs, sites, gradients, site_at, eager_function):
        self.original, self.plainly = refusals.call, refusals.plainly
        self.registry = registry
        self.functions = registry._funcs.data   # its `get` is Python code
        self.causes = causes
        self.graphs = runs.graphs
        self.going = runs._going
        self.session_run = runs._sites['Session.run']
        self.host = self.session_run.host
        self.thread = runs._thread
        self.sites, self.gradients, self.site_at = sites, gradients, site_at
        self.eager_function = eager_function
        self.places = {}

    cdef object looking(self, str kind):
        """The recorder of calls of a kind, if recorders, one of each kind, are all that looks on; else None. It is not kept
        here: nothing may tell us that it is over."""
        # Read at once: no other thread comes between.
        stamp, alone = hooks.stamp, hooks.alone
        if stamp is not self.stamp:
            self.usual = not hooks.op and hooks.passive and _is_quick(alone['python']) and _is_quick(alone['run'])
            self.stamp = stamp
        return alone[kind] if self.usual else None

    def call(self, registry, token, device, args):
        """One call of a registered function."""
        cdef PyObject *found
        cdef Run run
        if registry is not self.registry or type(args) is not list or self.causes.aborted is not None:
            return NotImplemented
        watcher = self.looking('python')
        if watcher is None:
            return NotImplemented
        found = PyDict_GetItemWithError(self.functions, token)
        if found is NULL:
            return NotImplemented
        function = <object>PyWeakref_GetObject(<object>found)
        entry = getattr(function, MARK, None)
        if entry is None:
            return self.eager(watcher, function, token, device, <list>args)
        known = entry.quick
        if known is None:
            return NotImplemented
        site, root, last = <tuple>known
        found = PyDict_GetItemWithError(self.going, root)
        if found is not NULL and len(<list>found) > 1:
            return NotImplemented               # which of them it is takes a look
        run = (<list>found)[-1] if found is not NULL and <list>found else self.graphs
        if run.control is not None:
            return NotImplemented
        return looked_on(watcher, site, run, <list>args, last, self.original, (registry, token, device, args))

    cdef object eager(self, watcher, registered, token, device, list args):
        """One eager call of a `py_function`, which TensorFlow registers for this call alone."""
        if type(registered) is not self.eager_function or registered._is_grad_func:
            return NotImplemented
        run, function = getattr(self.thread, 'run', None), user_function(registered)
        if run is None or type(function) is not Function:       # others may have no hash
            return NotImplemented
        caller = self.sites.eager_caller(get_frame(0))          # that of `Calls`: there is none of what is compiled
        if caller is None:
            return NotImplemented
        name = caller.f_locals.get('name') or EAGER
        if type(name) is not str:
            return NotImplemented
        place = self.place(EAGER, name, function, eager_outputs(registered), caller)
        site = at_place(place, self.sites.again_eagerly(registered), function)
        return looked_on(watcher, site, run, args, self.gradients.expect(token, site), self.original,
                         (self.registry, token, device, args))

    cdef object place(self, str kind, name, function, tuple declared, frame):
        """The place of an eager call in the line of the program that `frame` was called from."""
        cdef PyObject *known
        if type(function) is not Function:      # others may have no hash
            return self.sites.eager_place(name, kind, function, declared)
        while frame is not None:
            known = PyDict_GetItemWithError(judged, frame.f_code.co_filename)
            if not (<object>known if known is not NULL else is_machinery(frame.f_code.co_filename)):
                break
            frame = frame.f_back
        code = function.__code__                # code of other files may be equal
        key = (kind, code, code.co_filename, name, declared) if frame is None else (
            kind, code, code.co_filename, name, declared, frame.f_code, frame.f_code.co_filename, frame.f_lasti)
        place = self.places.get(key)
        if place is None:
            place = self.sites.eager_place(name, kind, function, declared)
            if len(self.places) < MOST_PLACES:
                self.places[key] = place
        return place

    def plain(self, function, name, tuple declared, list inputs, tuple arrays):
        """One eager call of a `numpy_function`, by a frame of `Calls`; `inputs` are its arrays too."""
        if self.causes.aborted is not None:
            return NotImplemented
        watcher, run = self.looking('python'), getattr(self.thread, 'run', None)
        if watcher is None or run is None:
            return NotImplemented
        if name is not None and type(name) is not str:
            return NotImplemented
        try:
            hash(declared)
        except TypeError:                       # a nested Tout, which TensorFlow does not look at
            return NotImplemented
        place = self.place(NUMPY, name or NUMPY, function, declared, get_frame(0))
        return looked_on(watcher, self.site_at(place, function), run, inputs, None, self.plainly, (function, *arrays))

    def run(self, original, session, handle, targets, fetches, feeds, options, metadata, list fed):
        """One run of a session; the arguments are those of `BaseSession._do_run`, which is `original`, and what is fed."""
        cdef PyObject *found
        cdef list key, going
        cdef Run run
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
        going = <list>plan.going
        run = Run('Session.run', self.host, clock(), sites=plan.announce, feeds=plan.feed_names, fetches=plan.fetch_names)
        run.fed, run.form, run.thread = fed, plan.form, this_thread()
        going.append(run)
        try:
            return looked_on(watcher, self.session_run, run, fed, None, original,
                             (session, handle, targets, fetches, feeds, options, metadata))
        finally:
            going.remove(run)
            run.fed = ()


cdef bint _is_quick(watcher) except -1:
    return watcher is not None and isinstance(getattr(watcher, 'halves', None), Watch) and not hasattr(watcher, 'wants')
