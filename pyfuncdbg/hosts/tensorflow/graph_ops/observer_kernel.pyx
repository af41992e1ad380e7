# cython: boundscheck=False, wraparound=False, cdivision=True, auto_pickle=False
"""Kernel of the op `PyfuncdbgObserver`: keeps references to the values of observed nodes until `take` hands them over.

Registered through TensorFlow's interface for C, whose functions are looked up in its library. A kernel runs on a thread of
TensorFlow's without the interpreter, 0.2 µs for each tensor; a Python function at the node takes 24. `op_calls` takes what
waits: at the end of an execution, before code of the program runs, and when there is much. What holds a reference is not
written to: TensorFlow writes in place only to memory that has one. Where this is not compiled the nodes are Python functions.
"""
from cpython.bytearray cimport PyByteArray_AS_STRING, PyByteArray_FromStringAndSize
from cpython.long cimport PyLong_AsLongLong
from cpython.tuple cimport PyTuple_GET_ITEM
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc
from libc.string cimport memcpy

import numpy as np

cdef extern from "Python.h":
    ctypedef struct PyObject
    Py_ssize_t Py_REFCNT(PyObject *)
    PyObject *PyList_GET_ITEM(object, Py_ssize_t)       # without a reference

cdef extern from *:
    """
    #include <dlfcn.h>
    #include <pthread.h>
    #include <stdint.h>
    #include <stdlib.h>
    #include <string.h>
    #include <time.h>
    #include <unistd.h>
    #ifdef __linux__
    #include <sys/syscall.h>
    #endif

    typedef struct TF_Tensor TF_Tensor;
    typedef struct TF_Status TF_Status;
    enum { OFF, BATCHES, CALLS };
    enum { MOST_ENTRIES = 512, MOST_BYTES = 1 << 24, FEW = 16 };
    #define MOST_AGE 50000000                               /* ns: a process that dies has recorded what ran before */

    static struct {
        int (*num_inputs)(void *);
        void (*get_input)(void *, int, TF_Tensor **, TF_Status *);
        void (*get_number)(void *, const char *, int64_t *, TF_Status *);
        TF_Status *(*new_status)(void);
        void (*delete_status)(TF_Status *);
        int (*code)(const TF_Status *);
        const char *(*message)(const TF_Status *);
        void (*set_status)(TF_Status *, int, const char *);
        void (*fail_construction)(void *, TF_Status *);
        void (*fail)(void *, TF_Status *);
        void (*delete_tensor)(TF_Tensor *);
        int (*type)(const TF_Tensor *);
        int (*num_dims)(const TF_Tensor *);
        int64_t (*dim)(const TF_Tensor *, int);
        size_t (*byte_size)(const TF_Tensor *);
        void *(*data)(const TF_Tensor *);
        void *(*new_op)(const char *);
        void (*add_input)(void *, const char *);
        void (*add_attr)(void *, const char *);
        void (*set_stateful)(void *, int);
        void (*set_shapes)(void *, void (*)(void *, TF_Status *));
        void (*register_op)(void *, TF_Status *);
        void *(*new_kernel)(const char *, const char *, void *(*)(void *), void (*)(void *, void *), void (*)(void *));
        void (*register_kernel)(const char *, void *, TF_Status *);
    } tf;
    static const struct { const char *name; void **function; } SYMBOLS[] = {
        {"TF_NumInputs", (void **)&tf.num_inputs}, {"TF_GetInput", (void **)&tf.get_input},
        {"TF_OpKernelConstruction_GetAttrInt64", (void **)&tf.get_number}, {"TF_NewStatus", (void **)&tf.new_status},
        {"TF_DeleteStatus", (void **)&tf.delete_status}, {"TF_GetCode", (void **)&tf.code},
        {"TF_Message", (void **)&tf.message}, {"TF_SetStatus", (void **)&tf.set_status},
        {"TF_OpKernelConstruction_Failure", (void **)&tf.fail_construction},
        {"TF_OpKernelContext_Failure", (void **)&tf.fail},
        {"TF_DeleteTensor", (void **)&tf.delete_tensor}, {"TF_TensorType", (void **)&tf.type},
        {"TF_NumDims", (void **)&tf.num_dims}, {"TF_Dim", (void **)&tf.dim},
        {"TF_TensorByteSize", (void **)&tf.byte_size}, {"TF_TensorData", (void **)&tf.data},
        {"TF_NewOpDefinitionBuilder", (void **)&tf.new_op}, {"TF_OpDefinitionBuilderAddInput", (void **)&tf.add_input},
        {"TF_OpDefinitionBuilderAddAttr", (void **)&tf.add_attr},
        {"TF_OpDefinitionBuilderSetIsStateful", (void **)&tf.set_stateful},
        {"TF_OpDefinitionBuilderSetShapeInferenceFunction", (void **)&tf.set_shapes},
        {"TF_RegisterOpDefinition", (void **)&tf.register_op}, {"TF_NewKernelBuilder", (void **)&tf.new_kernel},
        {"TF_RegisterKernelBuilder", (void **)&tf.register_kernel},
    };

    typedef struct { int64_t observer, root; } Kernel;
    typedef struct { Kernel kernel; int64_t time, thread, count; } Entry;
    typedef struct { Entry *entries; TF_Tensor **tensors; int64_t length, room, tensor_length, tensor_room, nbytes; } Buffer;
    static Buffer waiting;
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static int mode = OFF;
    static __thread int64_t thread_id;
    static __thread TF_Status *status;

    enum { MOST_TEXT = 1024, UNKNOWN = 2 };                 /* TensorFlow's code for an exception of Python */
    static int (*call_observer)(int64_t observer, TF_Tensor **tensors, int count, char *text);
    static void (*call_full)(void);

    static int64_t now(void) {
        struct timespec time;
        clock_gettime(CLOCK_MONOTONIC, &time);
        return time.tv_sec * 1000000000LL + time.tv_nsec;
    }

    static int64_t native_thread(void) {
        if (!thread_id) {
    #ifdef __linux__
            thread_id = syscall(SYS_gettid);
    #elif defined(__APPLE__)
            uint64_t id;
            pthread_threadid_np(NULL, &id);
            thread_id = (int64_t)id;
    #else
            thread_id = (int64_t)(intptr_t)pthread_self();
    #endif
        }
        return thread_id;
    }

    static void delete_tensors(TF_Tensor **tensors, int64_t count) {
        for (int64_t i = 0; i < count; i++)
            if (tensors[i]) tf.delete_tensor(tensors[i]);
    }

    /* Room for more of either; 0 if there is no memory. */
    static int reserve(Buffer *buffer, int64_t count) {
        if (buffer->length == buffer->room) {
            int64_t room = buffer->room ? 2 * buffer->room : MOST_ENTRIES;
            void *grown = realloc(buffer->entries, room * sizeof(Entry));
            if (!grown) return 0;
            buffer->entries = grown;
            buffer->room = room;
        }
        if (buffer->tensor_length + count > buffer->tensor_room) {
            int64_t room = 2 * (buffer->tensor_length + count) + MOST_ENTRIES;
            void *grown = realloc(buffer->tensors, room * sizeof(TF_Tensor *));
            if (!grown) return 0;
            buffer->tensors = grown;
            buffer->tensor_room = room;
        }
        return 1;
    }

    /* The bytes of some tensors, less those that the entry before has too: what one op has given the next one takes. */
    static int64_t count_bytes(TF_Tensor **tensors, int64_t count) {
        int64_t nbytes = 0, before = waiting.length ? waiting.entries[waiting.length - 1].count : 0;
        TF_Tensor **last = waiting.tensors + waiting.tensor_length - before;
        if (before > FEW) before = FEW;
        for (int64_t i = 0; i < count; i++) {
            int is_new = tensors[i] != NULL;
            for (int64_t j = 0; j < before && is_new; j++) is_new = !last[j] || tf.data(last[j]) != tf.data(tensors[i]);
            if (is_new) nbytes += tf.byte_size(tensors[i]);
        }
        return nbytes;
    }

    /* Append an entry, which then has the tensors; whether there is much now. */
    static int append(const Kernel *kernel, TF_Tensor **tensors, int64_t count) {
        int64_t time = now(), thread = native_thread();
        pthread_mutex_lock(&lock);
        int has_room = reserve(&waiting, count);
        if (has_room) {
            waiting.nbytes += count_bytes(tensors, count);
            waiting.entries[waiting.length++] = (Entry){*kernel, time, thread, count};
            memcpy(waiting.tensors + waiting.tensor_length, tensors, count * sizeof(TF_Tensor *));
            waiting.tensor_length += count;
        }
        int is_full = waiting.length >= MOST_ENTRIES || waiting.nbytes > MOST_BYTES
                      || (waiting.length && time - waiting.entries[0].time > MOST_AGE);
        pthread_mutex_unlock(&lock);
        if (!has_room) delete_tensors(tensors, count);
        return is_full;
    }

    static void *create(void *construction) {
        Kernel *kernel = malloc(sizeof(Kernel));
        TF_Status *failure = tf.new_status();
        tf.get_number(construction, "observer", &kernel->observer, failure);
        if (!tf.code(failure)) tf.get_number(construction, "root", &kernel->root, failure);
        if (tf.code(failure)) tf.fail_construction(construction, failure);
        tf.delete_status(failure);
        return kernel;
    }

    static void observe(void *kernel, void *context) {
        int current_mode = __atomic_load_n(&mode, __ATOMIC_RELAXED);
        if (current_mode == OFF) return;
        if (!status) status = tf.new_status();
        int count = tf.num_inputs(context);
        TF_Tensor *few[FEW], **tensors = count > FEW ? malloc(count * sizeof(TF_Tensor *)) : few;
        if (!tensors) return;
        for (int i = 0; i < count; i++) {
            tensors[i] = NULL;
            tf.get_input(context, i, &tensors[i], status);
        }
        if (current_mode == CALLS) {
            char text[MOST_TEXT];
            if (call_observer(((Kernel *)kernel)->observer, tensors, count, text)) {
                tf.set_status(status, UNKNOWN, text);
                tf.fail(context, status);
            }
            delete_tensors(tensors, count);
        } else if (append(kernel, tensors, count)) {
            call_full();
        }
        if (tensors != few) free(tensors);
    }

    static void no_outputs(void *context, TF_Status *failure) { (void)context; (void)failure; }

    /* Look up the functions; the name of one that is missing, else NULL. */
    static const char *look_up(const char *path) {
        void *library = dlopen(path, RTLD_NOW | RTLD_NOLOAD);
        if (!library) return path;
        for (size_t i = 0; i < sizeof SYMBOLS / sizeof *SYMBOLS; i++) {
            *SYMBOLS[i].function = dlsym(library, SYMBOLS[i].name);
            if (!*SYMBOLS[i].function) return SYMBOLS[i].name;
        }
        return NULL;
    }

    static TF_Status *register_op(void) {
        TF_Status *failure = tf.new_status();
        void *op = tf.new_op("PyfuncdbgObserver");
        tf.add_input(op, "values: types");
        tf.add_attr(op, "types: list(type) >= 0");
        tf.add_attr(op, "observer: int");
        tf.add_attr(op, "root: int");
        tf.set_stateful(op, 1);                             /* else the node would be left out */
        tf.set_shapes(op, no_outputs);
        tf.register_op(op, failure);
        if (!tf.code(failure))
            tf.register_kernel("PyfuncdbgObserver", tf.new_kernel("PyfuncdbgObserver", "CPU", create, observe, free), failure);
        return failure;
    }

    static Buffer take_all(void) {
        Buffer taken, empty = {0};
        pthread_mutex_lock(&lock);
        taken = waiting;
        waiting = empty;
        pthread_mutex_unlock(&lock);
        return taken;
    }
    static void forget_parent(void) {                       /* the lock may be held by a thread that a fork leaves behind */
        pthread_mutex_t fresh = PTHREAD_MUTEX_INITIALIZER;
        Buffer empty = {0};
        lock = fresh;
        waiting = empty;
        thread_id = 0;
    }
    static int64_t oldest_age(void) {
        int64_t time = now();
        pthread_mutex_lock(&lock);
        int64_t age = waiting.length ? time - waiting.entries[0].time : 0;
        pthread_mutex_unlock(&lock);
        return age;
    }
    static int64_t count_waiting(void) { return __atomic_load_n(&waiting.length, __ATOMIC_RELAXED); }
    static void set_mode_to(int new_mode) { __atomic_store_n(&mode, new_mode, __ATOMIC_RELAXED); }
    #define DELETE_TENSOR tf.delete_tensor
    #define TENSOR_TYPE tf.type
    #define TENSOR_RANK tf.num_dims
    #define TENSOR_LENGTH tf.dim
    #define TENSOR_BYTES tf.byte_size
    #define TENSOR_DATA tf.data
    #define STATUS_CODE tf.code
    #define STATUS_MESSAGE tf.message
    #define DELETE_STATUS tf.delete_status
    """
    ctypedef struct TF_Tensor:
        pass
    ctypedef struct TF_Status:
        pass
    ctypedef struct Kernel:
        int64_t observer
        int64_t root
    ctypedef struct Entry:
        Kernel kernel
        int64_t time
        int64_t thread
        int64_t count
    ctypedef struct Buffer:
        Entry *entries
        TF_Tensor **tensors
        int64_t length
        int64_t tensor_length
    int C_OFF "OFF", C_BATCHES "BATCHES", C_CALLS "CALLS", MOST_ENTRIES, MOST_TEXT
    int (*c_call_observer "call_observer")(int64_t, TF_Tensor **, int, char *) noexcept
    void (*c_call_full "call_full")() noexcept
    int64_t c_now "now"() nogil
    const char *c_look_up "look_up"(const char *) nogil
    TF_Status *c_register_op "register_op"() nogil
    Buffer take_all() nogil
    void forget_parent() nogil
    int64_t count_waiting() nogil
    int64_t oldest_age() nogil
    void set_mode_to(int) nogil
    void DELETE_TENSOR(TF_Tensor *) nogil
    void delete_tensors(TF_Tensor **, int64_t) nogil
    int TENSOR_TYPE(const TF_Tensor *) nogil
    int TENSOR_RANK(const TF_Tensor *) nogil
    int64_t TENSOR_LENGTH(const TF_Tensor *, int) nogil
    size_t TENSOR_BYTES(const TF_Tensor *) nogil
    void *TENSOR_DATA(const TF_Tensor *) nogil
    int STATUS_CODE(const TF_Status *) nogil
    const char *STATUS_MESSAGE(const TF_Status *) nogil
    void DELETE_STATUS(TF_Status *) nogil

OFF, BATCHES, CALLS = C_OFF, C_BATCHES, C_CALLS

cdef enum:
    ALIGNMENT = 16
    KEPT_SHAPES = 64
    MOST_TOGETHER = 1 << 20     # bytes of the values of one section, and those of one op
    WORTH_POOLING = 1 << 18     # bytes
    MOST_POOLED = 1 << 26
    POOLED = 4

cdef dict _types = {}
types = _types
"""NumPy's types by the numbers of TensorFlow's: of all tensors that are observed."""
cdef list _pool = []
cdef list _shapes = [()] * KEPT_SHAPES
cdef object _on_values = None
cdef object _on_full = None
cdef bint _is_registered = False
cdef object _ndarray = np.ndarray, _frombuffer = np.frombuffer


def install(str library):
    """Register the op and its kernel, once in a process.

    Args:
        library: Path of TensorFlow's library, which is loaded.

    Raises:
        OSError: The library has other functions, or refuses.
    """
    global _is_registered
    cdef TF_Status *failure
    if _is_registered:
        return
    missing = c_look_up(library.encode())
    if missing is not NULL:
        raise OSError(f'{missing.decode()} not found in {library}')
    failure = c_register_op()
    try:
        if STATUS_CODE(failure):
            raise OSError(STATUS_MESSAGE(failure).decode('utf-8', 'replace'))
    finally:
        DELETE_STATUS(failure)
    _is_registered = True


def listen(on_values, on_full):
    """Set the functions that kernels call.

    Args:
        on_values: Called with the number of an observer and its values, in mode `CALLS`; the run fails with what it raises.
        on_full: Called when much waits, in mode `BATCHES`: takes it, and raises nothing.
    """
    global _on_values, _on_full
    _on_values, _on_full = on_values, on_full


def set_mode(int mode):
    """Set what kernels do with values.

    Args:
        mode: `OFF`: nothing; `BATCHES`: keep them for `take`; `CALLS`: call `on_values`.
    """
    set_mode_to(mode)
    if mode == C_OFF:
        _pool.clear()


def has_waiting():
    """Whether there is something to take."""
    return count_waiting() != 0


def age():
    """The seconds for which the oldest op has waited; 0 where none waits."""
    return oldest_age() / 1e9


def discard():
    """Forget what waits in a forked child: it is the parent's."""
    forget_parent()


cdef int call_observer(int64_t observer, TF_Tensor **tensors, int count, char *text) noexcept with gil:
    """Call `on_values`; where it raises, true and the text of the exception."""
    try:
        if _on_values is not None:
            _on_values(observer, [_copied(tensors[place]) for place in range(count)])
        return 0
    except BaseException as error:
        message = f'{type(error).__name__}: {error}'.encode('utf-8', 'replace')[:MOST_TEXT - 1] + b'\0'
        memcpy(text, <char *> message, len(message))
        return 1


cdef void call_full() noexcept with gil:
    if _on_full is not None:
        _on_full()


c_call_observer, c_call_full = call_observer, call_full


cdef tuple _shape_of(TF_Tensor *tensor):
    """The shape; the tuple of an earlier tensor where that is the same: a program has few."""
    cdef int place, rank = TENSOR_RANK(tensor)
    cdef int64_t mark = rank
    for place in range(rank):
        mark = mark * 31 + TENSOR_LENGTH(tensor, place)
    cdef int slot = mark & (KEPT_SHAPES - 1)
    cdef tuple shape = <tuple> _shapes[slot]
    cdef bint is_same = len(shape) == rank
    for place in range(rank):
        if not is_same:
            break
        is_same = PyLong_AsLongLong(<object> PyTuple_GET_ITEM(shape, place)) == TENSOR_LENGTH(tensor, place)
    if not is_same:
        shape = _shapes[slot] = tuple([TENSOR_LENGTH(tensor, place) for place in range(rank)])
    return shape


cdef object _copied(TF_Tensor *tensor):
    """A copy of a tensor; None of one that was not there."""
    if tensor is NULL:
        return None
    cdef Py_ssize_t size = TENSOR_BYTES(tensor)
    memory = bytearray(size)
    memcpy(PyByteArray_AS_STRING(memory), TENSOR_DATA(tensor), size)
    return _ndarray(_shape_of(tensor), _types[TENSOR_TYPE(tensor)], memory)


cdef bint _is_same(const TF_Tensor *one, const TF_Tensor *other):
    """Whether two tensors at the same place of the memory are the same."""
    cdef int place, rank = TENSOR_RANK(one)
    if TENSOR_TYPE(one) != TENSOR_TYPE(other) or rank != TENSOR_RANK(other):
        return False
    for place in range(rank):
        if TENSOR_LENGTH(one, place) != TENSOR_LENGTH(other, place):
            return False
    return True


class Section:
    """Ops that ran in a row in one run, on one thread.

    Attributes:
        run: The run.
        thread: Native thread id.
        places: As int64 bytes, for each op: its observer, the number of its values, and their places in `values`.
        times: `perf_counter_ns()` after each op.
        values: Arrays whose memory only such sections have; None of a value that was not there.
    """

    __slots__ = ('places', 'run', 'thread', 'times', 'values')

    def __init__(self, run, thread, places, times, values):
        self.run, self.thread, self.places, self.times, self.values = run, thread, places, times, values


def take(run_of, int64_t clock):
    """Take what waits.

    Args:
        run_of: Gives the run of an outermost graph, by its id.
        clock: `perf_counter_ns()` now.

    Returns:
        Sections, in the order in which the ops ran, and the bytes of their values.
    """
    cdef Buffer buffer
    with nogil:
        buffer = take_all()
    cdef int64_t offset = clock - c_now(), first = 0, tensor = 0, nbytes
    cdef int64_t *places = <int64_t *> malloc((buffer.tensor_length + 1) * sizeof(int64_t))
    cdef int64_t *local = <int64_t *> malloc((buffer.tensor_length + 1) * sizeof(int64_t))
    values, sections, runs = [], [], {}
    try:
        if places is NULL or local is NULL:
            raise MemoryError
        nbytes = _copy_values(values, &buffer, places)
        for tensor in range(len(values)):
            local[tensor] = -1
        tensor = 0
        while first < buffer.length:
            sections.append(_section(&buffer, &first, &tensor, places, local, values, offset, runs, run_of))
        return sections, nbytes
    finally:
        delete_tensors(buffer.tensors, buffer.tensor_length)
        free(buffer.entries)
        free(buffer.tensors)
        free(places)
        free(local)


cdef int64_t _copy_values(list values, Buffer *buffer, int64_t *places) except -1:
    """Append an array of each value, and fill the place of each tensor among them; returns the bytes."""
    cdef int64_t i, place, count = 0
    cdef TF_Tensor *one
    cdef TF_Tensor **unique = <TF_Tensor **> malloc((buffer.tensor_length + 1) * sizeof(TF_Tensor *))
    by_data = {}
    try:
        if unique is NULL:
            raise MemoryError
        for i in range(buffer.tensor_length):
            one = buffer.tensors[i]
            place = -1
            if one is not NULL and TENSOR_BYTES(one):
                # All are held until here: at one place of the memory there is one value.
                key = <size_t> TENSOR_DATA(one)
                place = by_data.get(key, -1)
                if place >= 0 and not _is_same(unique[place], one):
                    place = -1
                if place < 0:
                    by_data[key] = count
            if place < 0:
                place = count
                unique[count] = one
                count += 1
            places[i] = place
        return _fill(values, unique, count)
    finally:
        free(unique)


cdef object _section(Buffer *buffer, int64_t *first, int64_t *tensor, int64_t *places, int64_t *local, list values,
                     int64_t offset, dict runs, run_of):
    """The section that begins with an entry and its first tensor; advances both behind it.

    `local` has -1 for each value, and is left so.
    """
    cdef Entry *entry = buffer.entries + first[0]
    cdef int64_t thread = entry.thread, root = entry.kernel.root, size = 0, written = 0, count = 0, ops = 0, place, i
    cdef int64_t from_tensor = tensor[0]
    cdef int64_t *numbers
    run = _run_of_root(root, runs, run_of)
    here, times = [], []
    packed = PyByteArray_FromStringAndSize(NULL, (2 * (buffer.length - first[0]) + buffer.tensor_length - tensor[0]) * 8)
    numbers = <int64_t *> PyByteArray_AS_STRING(packed)
    while first[0] < buffer.length and ops < MOST_ENTRIES and size <= MOST_TOGETHER:
        entry = buffer.entries + first[0]
        if entry.thread != thread or (entry.kernel.root != root and _run_of_root(entry.kernel.root, runs, run_of) is not run):
            break
        numbers[written], numbers[written + 1] = entry.kernel.observer, entry.count
        written += 2
        for i in range(entry.count):
            place = places[tensor[0]]
            if local[place] < 0:
                local[place] = count
                count += 1
                value = values[place]
                here.append(value)
                size += value.nbytes if value is not None else 0
            numbers[written] = local[place]
            written += 1
            tensor[0] += 1
        times.append(entry.time + offset)
        ops += 1
        first[0] += 1
    for i in range(from_tensor, tensor[0]):
        local[places[i]] = -1
    return Section(run, thread, bytes(packed[:written * 8]), times, here)


cdef object _run_of_root(int64_t root, dict runs, run_of):
    run = runs.get(root)
    if run is None:
        run = runs[root] = run_of(root)
    return run


cdef bytearray _memory(Py_ssize_t size):
    """Memory of at least a size; where much is needed, some that was used before: fresh pages cost more than the copy."""
    cdef int place
    if size < WORTH_POOLING:
        return PyByteArray_FromStringAndSize(NULL, size)
    for place in range(len(_pool)):
        if Py_REFCNT(PyList_GET_ITEM(_pool, place)) == 1 and size <= len(<bytearray> _pool[place]) <= 4 * size:
            return <bytearray> _pool[place]
    memory = PyByteArray_FromStringAndSize(NULL, size)
    if size <= MOST_POOLED:
        if len(_pool) >= POOLED:
            del _pool[0]
        _pool.append(memory)
    return memory


cdef int64_t _fill(list values, TF_Tensor **unique, int64_t count) except -1:
    """Append arrays of the tensors, copied into one piece of memory: Python functions may write to theirs; returns bytes."""
    cdef int64_t size, total = 0, nbytes = 0, place, row, rows, at = 0, start
    cdef TF_Tensor *one
    for place in range(count):
        size = TENSOR_BYTES(unique[place]) if unique[place] is not NULL else 0
        nbytes += size
        total += (size + ALIGNMENT - 1) & ~(ALIGNMENT - 1)
    memory = _memory(total)
    cdef char *to = PyByteArray_AS_STRING(memory)
    place = 0
    while place < count:
        one = unique[place]
        if one is NULL:
            values.append(None)
            place += 1
            continue
        dtype, shape, size = _types[TENSOR_TYPE(one)], _shape_of(one), TENSOR_BYTES(one)
        start = at
        rows = 0
        while place + rows < count and unique[place + rows] is not NULL and _is_same(one, unique[place + rows]):
            memcpy(to + at, TENSOR_DATA(unique[place + rows]), size)
            at += size
            rows += 1
        if size and shape:                      # a quarter of the time of one after the other
            values.extend(_frombuffer(memory, dtype, rows * size // dtype.itemsize, start).reshape((rows, *shape)))
        else:
            for row in range(rows):
                values.append(_ndarray(shape, dtype, memory, start + row * size))
        at = (at + ALIGNMENT - 1) & ~(ALIGNMENT - 1)
        place += rows
    return nbytes
