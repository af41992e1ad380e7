# cython: language_level=3
"""The two halves of a recorder, compiled: what `Recorder.begins` and `returned` do, for the values that are usual.

For others they ask the recorder's own Python. Runs on the thread of each call; `hooks.passage` calls it.
"""
from time import perf_counter_ns as clock

import numpy as np

from cpython.mem cimport PyMem_Free, PyMem_Realloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF
from libc.string cimport memcmp, memcpy

from pyfuncdbg.hooks import capture as capturing
from pyfuncdbg.hooks.host import READERS as _READERS
from pyfuncdbg.hooks.captured.output import SILENCE as _SILENCE
from pyfuncdbg.hooks.call cimport Call, CallSite, Run
from pyfuncdbg.hooks.passage cimport Hearing, Watch
from pyfuncdbg.observers.record.log.queued_call cimport queued_call
from pyfuncdbg.observers.record.snapshots import snapshot

cdef extern from *:
    """
    /* The first members of an array, whose places are part of NumPy's binary interface; `_check_layout` looks. */
    typedef struct {
        PyObject_HEAD
        char *data;
        int nd;
        Py_ssize_t *dimensions, *strides;
        PyObject *base, *descr;
        int flags;
    } Array;
    /* A scalar of NumPy's, and where its bytes are. */
    static inline PyObject *new_scalar(PyObject *kind) {
        return ((PyTypeObject *)kind)->tp_alloc((PyTypeObject *)kind, 0);
    }
    static inline Py_ssize_t size_of_scalar(PyObject *kind) { return ((PyTypeObject *)kind)->tp_basicsize; }
    static inline char *bytes_of(PyObject *scalar) { return (char *)scalar + sizeof(PyObject); }
    """
    object new_scalar(object kind)
    Py_ssize_t size_of_scalar(object kind)
    char *bytes_of(object scalar)
    ctypedef struct Array:
        char *data
        int nd
        Py_ssize_t *dimensions
        PyObject *descr
        int flags

cdef extern from "Python.h":
    object PyBytes_FromStringAndSize(const char *data, Py_ssize_t size)
    char *PyBytes_AS_STRING(object data)
    int PySet_Contains(object known, object key) except -1
    void PyObject_GC_UnTrack(void *thing)
    int PyDict_Contains(object known, object key) except -1
    PyObject *PyDict_GetItemWithError(object known, object key) except? NULL

cdef object ndarray = np.ndarray, SILENCE = _SILENCE, EMPTY = (), PYTHON = 'python'
cdef dict READERS = _READERS
cdef enum:
    PIECE = 65536
    C_CONTIGUOUS = 1
    MOST_TYPES = 24
    NEWEST = 64

cdef Py_ssize_t TINY = snapshot.TINY, WIDEST = snapshot._WIDEST


def _check_layout():
    """Whether arrays are made as it is written above."""
    table = np.arange(6, dtype=np.int16).reshape(2, 3)
    cdef Array *array = <Array *><PyObject *>table
    if (<Py_ssize_t>array.data, array.nd, array.dimensions[0], array.dimensions[1], <object>array.descr) != (
            table.ctypes.data, 2, 2, 3, table.dtype) or not array.flags & C_CONTIGUOUS or (
            (<Array *><PyObject *>table[:, 1:]).flags & C_CONTIGUOUS):
        raise ImportError('this NumPy has other arrays than those that this was compiled for')


_check_layout()


def _is_plain(dtype):
    """Whether a scalar of a type is its head and then its bytes."""
    kind = dtype.type
    value = np.arange(1, 1 + dtype.itemsize, dtype=np.uint8).view(dtype)
    cdef Array *array = <Array *><PyObject *>value
    if size_of_scalar(kind) < <Py_ssize_t>sizeof(PyObject) + dtype.itemsize:
        return False
    made = new_scalar(kind)
    memcpy(bytes_of(made), array.data, dtype.itemsize)
    return type(made) is kind and made.tobytes() == value.tobytes() and made == value[0]


cdef dict PLAIN = {dtype.type: dtype for dtype in map(np.dtype, 'bhilBHILefdFD') if _is_plain(dtype)}


cdef inline tuple unseen(tuple taken):
    """Spare the garbage collector a tuple of numbers and bytes, which is part of no cycle: thousands of them wait in the
    queue, and made it look through all objects of the program again and again.
    """
    PyObject_GC_UnTrack(<void *>taken)
    return taken


cdef class Halves(Watch):
    """Those of one recorder in one process: after a fork it makes others.

    Args:
        recorder: Records no graph nodes, and keeps values.
    """

    cdef object recorder, backlog, rows, append, snapshots, allowance, scalars
    cdef dict running, plans, known_runs, known_sites
    cdef Py_ssize_t most_runs, small, piece, held
    cdef Hearing hearing
    cdef PyObject *types[MOST_TYPES]
    cdef Py_ssize_t widths[MOST_TYPES]
    cdef PyObject *kinds[MOST_TYPES]
    cdef Py_ssize_t known_types
    cdef list newest, kept_types
    cdef PyObject **passing
    cdef Py_ssize_t passing_count, passing_room

    def __init__(self, recorder, Py_ssize_t most_runs):
        self.recorder = recorder
        self.backlog = recorder._backlog
        self.rows = self.backlog.rows
        self.append = self.rows.append
        self.running = recorder._running
        self.backlog.passing = self.going
        self.snapshots = recorder._snapshots
        self.allowance = self.snapshots.allowance
        self.scalars = recorder._scalars
        self.known_runs = recorder._known_runs
        self.known_sites = recorder._known_sites
        self.plans = recorder._plans
        self.most_runs = most_runs
        self.small = self.snapshots._small
        self.piece = min(<Py_ssize_t>PIECE, <Py_ssize_t>self.allowance.limit // 64)
        self.held = 0
        self.known_types, self.kept_types = 0, []
        self.newest = [None] * NEWEST
        self.hearing = None if recorder._capture is None else Hearing(recorder._capture, capturing._process)

    cpdef object begins(self, Call call):
        cdef Run run = call.run
        cdef CallSite site = call.site
        if not PyDict_Contains(self.known_runs, run.id) or not PyDict_Contains(self.known_sites, site.id):
            self.announce(run, site)
        inputs = self.copied(call.inputs, site)
        heard = None
        if self.hearing is not None and site.kind is PYTHON:
            heard = self.hearing.begin(call)
        kept = (call, inputs, heard)
        self.enter(kept)
        return kept

    cdef int enter(self, object kept) except -1:
        """A call goes on. A dictionary would be made anew after every five, so this is a row of pointers."""
        cdef PyObject **longer
        if self.passing_count == self.passing_room:
            longer = <PyObject **>PyMem_Realloc(self.passing, (self.passing_room + 16) * sizeof(PyObject *))
            if longer is NULL:
                raise MemoryError
            self.passing, self.passing_room = longer, self.passing_room + 16
        Py_INCREF(kept)
        self.passing[self.passing_count] = <PyObject *>kept
        self.passing_count += 1
        return 0

    cpdef bint leave(self, object kept) except -1:
        """A call is over; False if it is none that began here."""
        cdef Py_ssize_t place = self.passing_count - 1, later
        while place >= 0 and self.passing[place] is not <PyObject *>kept:
            place -= 1
        if place < 0:
            return False
        self.passing_count -= 1
        for later in range(place, self.passing_count):
            self.passing[later] = self.passing[later + 1]
        Py_DECREF(kept)
        return True

    def going(self):
        """The calls that go on, as `Backlog.running` has them."""
        cdef Py_ssize_t place = 0
        cdef list found = []
        while place < self.passing_count:       # the collector may have come by and made calls end
            found.append(<object>self.passing[place])
            place += 1
        return found

    def __dealloc__(self):
        cdef Py_ssize_t place
        for place in range(self.passing_count):
            Py_DECREF(<object>self.passing[place])
        PyMem_Free(self.passing)

    cdef int announce(self, Run run, CallSite site) except -1:
        """As `Recorder.announce`; it is asked itself unless another run of the same form was announced before."""
        cdef PyObject *number = NULL
        form = run.form
        if form is not None and len(self.known_runs) < self.most_runs and run.element is None and (
                PyDict_Contains(self.known_sites, site.id)) and self.backlog.mark:
            number = PyDict_GetItemWithError(self.plans, (form,))
        if number is NULL:
            self.recorder.announce(run, site)
            return 0
        key = run.id
        self.backlog.runs.append((key, <object>number, run.started))
        self.known_runs[key] = None
        return 0

    cdef object copied(self, object values, CallSite site):
        """The values as they are queued: in a tuple if all are scalars that stand for themselves, else in a list."""
        cdef bint plain = True
        cdef Py_ssize_t total = 0, size, place
        cdef Array *array
        cdef PyObject *reader
        cdef list taken = []
        for value in values:
            if PySet_Contains(self.scalars, type(value)):
                taken.append(value)
                continue
            plain = False
            if type(value) is not ndarray:
                reader = PyDict_GetItemWithError(READERS, type(value))
                if reader is NULL:
                    break
                try:
                    value = (<object>reader)(value)
                except Exception:               # it has no elements that could be read; the recorder says so
                    break
                if PySet_Contains(self.scalars, type(value)):
                    taken.append(value)
                    continue
                if type(value) is not ndarray:
                    break
            array = <Array *><PyObject *>value
            size = self.width(array.descr)
            if size < 0:
                break
            if not array.nd and size <= WIDEST and (<object>array.descr).isnative:
                scalar = self.scalar(value, array, size)
                if PySet_Contains(self.scalars, type(scalar)):
                    taken.append(scalar)        # ten times less work for the writer
                    continue
            for place in range(array.nd):
                size *= array.dimensions[place]
            if size > self.small:
                break
            if size > TINY:
                total += size
            taken.append(self.copy(value, array, size))
        else:
            if plain:
                return tuple(taken)
            if not total or self.takes(total):
                return taken
        return self.snapshots.take_all(values, site.host, self.scalars)

    cdef Py_ssize_t width(self, PyObject *descr) except -2:
        """Bytes of an element; -1 of a type whose elements are objects, or that may hold such itself: it would be kept."""
        cdef Py_ssize_t place, size
        for place in range(self.known_types):
            if self.types[place] is descr:
                return self.widths[place]
        dtype = <object>descr
        size = -1 if dtype.hasobject or dtype.names is not None or dtype.metadata is not None else dtype.itemsize
        if size >= 0 and self.known_types < MOST_TYPES:
            self.kept_types.append(dtype)
            self.types[self.known_types], self.widths[self.known_types] = descr, size
            self.kinds[self.known_types] = <PyObject *>dtype.type if dtype is PLAIN.get(dtype.type) else NULL
            self.known_types += 1
        return size

    cdef object scalar(self, object value, Array *array, Py_ssize_t size):
        """The element of an array without dimensions; `value[()]` is 41 times 64 bytes of code, in no cache."""
        cdef Py_ssize_t place
        for place in range(self.known_types):
            if self.types[place] is array.descr and self.kinds[place] is not NULL:
                made = new_scalar(<object>self.kinds[place])
                memcpy(bytes_of(made), array.data, size)
                return made
        return value[EMPTY]

    cdef tuple copy(self, object value, Array *array, Py_ssize_t size):
        """As `snapshot.Copied`. What is the same as the newest one of its size is that: what a session is fed its function
        gets, what that gives is fetched, and a backward step sees it all again.
        """
        cdef Py_ssize_t place
        cdef tuple known
        if not array.flags & C_CONTIGUOUS:
            return unseen((<object>array.descr, unseen(value.shape), value.tobytes(), False))
        known = self.newest[(size >> 2) % NEWEST]
        if known is not None and <PyObject *>known[0] is array.descr and same_shape(array, <tuple>known[1]) and memcmp(
                array.data, PyBytes_AS_STRING(known[2]), size) == 0:
            return known
        shape = []
        for place in range(array.nd):
            shape.append(array.dimensions[place])
        known = unseen((<object>array.descr, unseen(tuple(shape)), PyBytes_FromStringAndSize(array.data, size), False))
        if size > TINY:
            self.newest[(size >> 2) % NEWEST] = known
        return known

    cdef bint takes(self, Py_ssize_t size) except -1:
        """As `Allowance.take`, which is asked for a piece more at once: it is Python, behind a lock."""
        if self.held < size:
            if not self.allowance.take(size + self.piece):
                return self.allowance.take(size)
            self.held += size + self.piece      # other threads may have come between
        self.held -= size
        return True

    cpdef object returned(self, Call call, object kept, object outputs):
        _, inputs, heard = <tuple>kept
        cdef CallSite site = call.site
        if heard is not None:
            self.hearing.end(call, heard)
        key = call.id
        if not self.leave(kept):                # it began before a fork
            self.running.pop(key, None)
        output = call.output
        if (output is not SILENCE and output is not None) or call.sources:
            self.recorder._finish(call, inputs, outputs, None)
            return None
        cdef bint general = type(inputs) is list
        if general and site.kind is PYTHON:
            self.note_changes(<list>inputs, call.inputs, site)
        gave = self.copied(outputs, site)
        general = general or type(gave) is list
        row = queued_call(call, unseen(tuple(inputs)), unseen(tuple(gave)), call.finished or clock(), call.forward, general)
        PyObject_GC_UnTrack(<void *>row)
        if len(self.rows) < self.backlog.mark:
            self.append(row)
        else:
            self.recorder._append_crowded(row)
        return None

    cdef int note_changes(self, list taken, list values, CallSite site) except -1:
        """As `Snapshots.note_changes`."""
        cdef Py_ssize_t place
        for place in range(min(len(taken), len(values))):
            before, value = taken[place], values[place]
            if type(before) is tuple:
                if type(value) is ndarray and not same(value, before):
                    taken[place] = (before[0], before[1], before[2], True)
            elif not PySet_Contains(self.scalars, type(before)):
                self.snapshots.note_changes([before], [value], site.host)
            elif type(value) is ndarray and not (<Array *><PyObject *>value).nd:
                data = before.tobytes()
                if value.tobytes() != data:
                    taken[place] = (before.dtype, EMPTY, data, True)
        return 0

    def call_of(self, inputs):
        """The call that runs with this very list of inputs; None if none does."""
        for call, _, _ in self.backlog.begun():
            if call.inputs is inputs:
                return call
        return None


cdef bint same_shape(Array *array, tuple shape) except -1:
    cdef Py_ssize_t place
    if array.nd != len(shape):
        return False
    for place in range(array.nd):
        if array.dimensions[place] != <Py_ssize_t>shape[place]:
            return False
    return True


cdef bint same(object value, tuple before) except -1:
    """Whether an array has the bytes of a copy."""
    cdef Array *array = <Array *><PyObject *>value
    cdef bytes data = before[2]
    if array.flags & C_CONTIGUOUS and <PyObject *>before[0] is array.descr and same_shape(array, before[1]):
        return memcmp(array.data, PyBytes_AS_STRING(data), len(data)) == 0
    return value.tobytes() == data              # it is not in one piece, or the function has given it another shape
