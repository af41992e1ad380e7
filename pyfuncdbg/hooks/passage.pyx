# cython: language_level=3
"""The passage of a call that one hook looks on at, compiled: what `chain.around` and `capture` do in Python.

Between two calls TensorFlow's own code empties the processor's caches, and bytecode that is not in them takes three times
as long as in a loop: a recorded call costs a third of what it costs in Python. Optional: hosts that find no compiled
passage go through `chain`. Runs on the thread of each call.
"""
from contextvars import ContextVar
from time import perf_counter_ns as clock

from cpython.object cimport PyObject, PyTypeObject
from cpython.contextvars cimport PyContextVar_Get, PyContextVar_Reset, PyContextVar_Set
from cpython.ref cimport Py_DECREF

from pyfuncdbg.hooks import call as calls
from pyfuncdbg.hooks import errstate, floating
from pyfuncdbg.hooks.call import Call, CallSite, Run, current as _current
from pyfuncdbg.hooks.chain import _NONE, _switch_off, fallen
from pyfuncdbg.hooks.output import SILENCE as _SILENCE

cdef extern from "Python.h":
    PyObject *PySys_GetObject(const char *name)
    object PyType_GenericAlloc(PyTypeObject *kind, Py_ssize_t items)
    object PyObject_Call(object function, object arguments, PyObject *names)
    unsigned long PyThread_get_thread_native_id()
    PyObject *PyDict_GetItemWithError(object known, object key) except? NULL

cdef object current = _current, SILENCE = _SILENCE, EMPTY = ()
cdef object errors = errstate.state, USUAL = errstate.DEFAULT
cdef dict watched = floating.states
cdef object numbers = calls._call_ids
cdef object make_call = Call, make_run = Run, run_numbers = calls._run_ids
cdef object ZERO = 0


cdef Py_ssize_t _slot(object kind, str name) except -1:
    offset = slot_offset(getattr(kind, name))
    if offset < 0:
        raise ImportError(f'{kind.__name__}.{name} is no slot')
    return offset


def _slots(kind, names):
    if kind is not CallSite and set(names) != set(kind.__slots__):
        raise ImportError(f'{kind.__name__} has other slots: what is made here would lack some')
    return {name.lstrip('_'): _slot(kind, name) for name in names}


of_call = <dict>_slots(Call, (
    'id', 'run', 'site', 'ordinal', 'thread', 'started', 'finished', 'inputs', 'outputs', 'error', 'output', 'forward',
    'sources', 'parent', 'speaker', 'standing'))
of_run = <dict>_slots(Run, (
    '_announce', '_sites',
    'id', 'endless', 'element', 'label', 'host', 'started', 'feeds', 'fetches', 'control', 'aborted', 'stepwise', 'form',
    'thread', 'remark'))
of_site = <dict>_slots(CallSite, ('id', 'kind', 'counter'))


cdef inline object value_of(object variable, object default):
    """The value of a context variable here."""
    cdef PyObject *found = NULL
    PyContextVar_Get(variable, <PyObject *>default, &found)
    result = <object>found
    Py_DECREF(result)
    return result


cdef object begun(object site, object run, object inputs, bint whole, object within):
    """As `call.new_call`."""
    call = PyType_GenericAlloc(<PyTypeObject *>make_call, 0)
    slot_put(call, of_call.id, -<object>slot_get(run, of_run.id) if whole else next(numbers))
    slot_put(call, of_call.run, run)
    slot_put(call, of_call.site, site)
    slot_put(call, of_call.ordinal, next(<object>slot_get(site, of_site.counter)))
    slot_put(call, of_call.thread, <object>slot_get(run, of_run.thread) if whole else PyThread_get_thread_native_id())
    slot_put(call, of_call.inputs, inputs)
    slot_put(call, of_call.outputs, None)
    slot_put(call, of_call.error, None)
    slot_put(call, of_call.output, None)
    slot_put(call, of_call.finished, ZERO)
    slot_put(call, of_call.forward, ZERO)
    slot_put(call, of_call.sources, EMPTY)
    slot_put(call, of_call.parent, ZERO if within is None else <object>slot_get(within, of_call.id))
    slot_put(call, of_call.speaker, None if within is None else <object>slot_get(within, of_call.speaker))
    slot_put(call, of_call.started, clock())
    return call


cdef object new_run(object label, object host, object announce, object feeds, object fetches, object form):
    """As `Run`, of what one call of a session asks for."""
    run = PyType_GenericAlloc(<PyTypeObject *>make_run, 0)
    slot_put(run, of_run.id, next(run_numbers))
    slot_put(run, of_run.endless, False)
    slot_put(run, of_run.element, None)
    slot_put(run, of_run.label, label)
    slot_put(run, of_run.host, host)
    slot_put(run, of_run.started, clock())
    slot_put(run, of_run.feeds, feeds)
    slot_put(run, of_run.fetches, fetches)
    slot_put(run, of_run.control, None)
    slot_put(run, of_run.aborted, None)
    slot_put(run, of_run.stepwise, False)
    slot_put(run, of_run.form, form)
    slot_put(run, of_run.thread, PyThread_get_thread_native_id())
    slot_put(run, of_run.remark, '')
    slot_put(run, of_run.announce, announce)
    slot_put(run, of_run.sites, None)
    return run


cdef class Watch:
    """The two halves of a hook that only looks on, for callers that are compiled too."""

    cpdef object begins(self, object call):
        raise NotImplementedError

    cpdef object returned(self, object call, object kept, object outputs):
        raise NotImplementedError


cdef object looked_on(object watcher, object site, object run, list inputs, object begins, object function,
                      tuple arguments):
    """Execute one call that `watcher` looks on at, and nobody else: as `chain.around`.

    Args:
        watcher: The only hook of this kind; its `halves` are a `Watch`.
        site, run, inputs: As in `Call`.
        begins: Called with the call when it begins, unless None.
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
    call = begun(site, run, inputs, <object>slot_get(site, of_site.kind) == 'run', within)
    if begins is not None:
        begins(call)
    try:
        return _passed(call, run, watcher, watch, function, arguments)
    finally:
        slot_put(call, of_call.speaker, None)


cdef object _passed(object call, object run, object watcher, Watch watch, object function, tuple arguments):
    """As `chain._looked_on`."""
    try:
        kept = watch.begins(call)
    except Exception as error:                  # the hook is broken: the call goes on without it
        _switch_off(watcher, call, error)
        kept = _NONE
    mark = PyContextVar_Set(current, call)
    try:
        raw = PyObject_Call(function, arguments, NULL)
    except BaseException as error:
        PyContextVar_Reset(current, mark)
        raise fallen(call, watcher, kept, error)
    slot_put(call, of_call.finished, clock())
    PyContextVar_Reset(current, mark)
    aborted = <object>slot_get(run, of_run.aborted)
    if aborted is not None:
        raise fallen(call, watcher, kept, aborted.with_traceback(None))
    outputs = raw if isinstance(raw, (list, tuple)) else EMPTY if raw is None else (raw,)
    slot_put(call, of_call.outputs, outputs)
    if kept is not _NONE:
        try:
            (<Watch?>watcher.halves).returned(call, kept, outputs)     # asked again: after a fork they are others
        except Exception as error:              # the hook is broken: the outputs stand
            _switch_off(watcher, call, error)
    return raw


if type(errors) is not ContextVar:
    raise ImportError('the error state of NumPy 1 is no context variable: `chain` knows how to switch it')


cdef class Hearing:
    """The two halves of a `Capture`."""

    def __init__(self, capture, process):
        self.capture = capture
        self.process = process
        self.inside = process.inside

    cdef object begin(self, object call):
        """As `Capture.begins`."""
        if <object>slot_get(call, of_call.speaker) is call:
            return None                         # another Capture outside of this one is at work
        (<list>self.inside).append(None)
        if not self.process.users:              # stopped since this call read the list of hooks
            self.process.leave()
            return None
        standing = self.capture._standing
        cdef PyObject *out = PySys_GetObject('stdout')
        stdout = <object>out if out is not NULL else None
        cdef PyObject *err = PySys_GetObject('stderr')
        stderr = <object>err if err is not NULL else None
        try:
            held = stdout.write is standing[3] and stderr.write is standing[4]
        except AttributeError:                  # the program has deleted one, or has none
            held = False
        if not held:
            standing = self.capture._look()
        output = <object>slot_get(call, of_call.output)
        if output is None:
            slot_put(call, of_call.output, SILENCE)
        elif output is not SILENCE:             # the function runs again
            output.open = True
        outer = <object>slot_get(call, of_call.speaker)
        slot_put(call, of_call.standing, standing)
        slot_put(call, of_call.speaker, call)
        user = value_of(errors, USUAL)
        cdef PyObject *known = PyDict_GetItemWithError(watched, user)
        within = <object>known if known is not NULL else None
        if not within:
            within = floating.watched(user)
        return outer, within, PyContextVar_Set(errors, within)

    cdef int end(self, object call, object heard) except -1:
        """As `Capture.returned`."""
        cdef tuple held = <tuple>heard
        outer = held[0]
        if value_of(errors, None) is held[1]:
            PyContextVar_Reset(errors, held[2])
        elif outer is None:                     # in a nested call it stays watched, for the outer one
            floating.unwatch()
        slot_put(call, of_call.speaker, outer)
        output = <object>slot_get(call, of_call.output)
        if output is not SILENCE and output is not None:
            output.open = False
        (<list>self.inside).pop()
        if not self.process.users:
            self.process.undo_if_idle()
        return 0
