"""C types of `call_state.py`."""
cimport cython

from pyfuncdbg.hooks.call cimport Call, CallSite


cdef class SiteState:
    cdef public object values, code, mark, key
    cdef public tuple last
    cdef public long long number, epoch
    cdef public bint plain


cdef class CallStates:
    cdef object _put, _python, _numpy, _python_mark, _numpy_mark, _draws, _errstate, _filters, _first_filter, _folder
    cdef object _arguments
    cdef const unsigned int[::1] _python_words
    cdef const unsigned int[::1] _numpy_words
    cdef const unsigned char[::1] _gauss
    cdef object _random, _random_state, _gauss_next, _bits
    cdef dict _sites
    cdef long long _generators, _surroundings, _looked, _epoch, _filter_count, _position, _word
    cdef long long _numpy_position, _numpy_word, _numpy_gauss

    @cython.locals(site=CallSite, state=SiteState, drawn=bint, count=Py_ssize_t)
    cpdef object take(self, Call call)
    cdef SiteState _new_site(self, object site)
    cdef object _take_generators(self, object host)
    @cython.locals(mark=object, body=object, key=object)
    cdef object _take_values(self, SiteState state, object function)
    cdef object _take_surroundings(self, long long now)
    cdef long long _record(self, object kind, object body) except -1
