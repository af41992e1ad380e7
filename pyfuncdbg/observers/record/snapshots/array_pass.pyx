# cython: boundscheck=False, wraparound=False, cdivision=True, auto_pickle=False
"""Statistics of arrays in compiled code: counts and range in one pass, moments and histogram in a second, over warm memory.

Called by `statistics`, which computes the same with NumPy where this was not compiled, and for what it leaves alone: types
other than the four below, and floats near the ends of their range. Other threads run meanwhile.
"""
from cpython.buffer cimport PyBUF_C_CONTIGUOUS, PyBUF_FORMAT, PyBUF_WRITABLE, PyBuffer_Release, PyObject_GetBuffer
from cpython.mem cimport PyMem_Free, PyMem_Malloc
from libc.stdint cimport int64_t, uint32_t

cdef extern from *:
    """
    #include <math.h>
    #include <stdint.h>
    #include <string.h>
    #if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__)
    #define PASS __attribute__((optimize("O3"), target_clones("arch=skylake-avx512", "avx2", "default")))
    #else
    #define PASS
    #endif
    #define BINS 20
    #define PIECE 128

    typedef union { double real; int64_t whole; } Number;
    typedef struct {
        int64_t size, nan, neg_inf, neg, zero, pos, pos_inf, first_bad;
        Number low, high;
        double mean, std;
        uint32_t bins[BINS];
    } Row;

    /* The arithmetic of a bin is that of `statistics._moments`, so that both put each element into the same one. */
    static int row_moments(Row *row, double total, double squares, int64_t count, double low, double high, double width) {
        double place = total / count, spread = squares / count - place * place;
        double mean = low + place * (width / BINS);
        row->mean = mean < low ? low : mean > high ? high : mean;
        row->std = sqrt(spread > 0 ? spread : 0) * (width / BINS);
        return 1;
    }

    #define DEFINE_PASSES(NAME, T, COUNT, LANES, IS_FLOAT, FIELD) \\
    static int NAME##_careful(const T *x, int64_t n, Row *row) { \\
        int64_t count = 0; \\
        T low = 0, high = 0; \\
        for (int64_t i = 0; i < n; i++) { \\
            if (IS_FLOAT && !(x[i] - x[i] == 0)) { \\
                if (row->first_bad < 0) row->first_bad = i; \\
                if (x[i] != x[i]) row->nan++; else if (x[i] > 0) row->pos_inf++; else row->neg_inf++; \\
                continue; \\
            } \\
            if (!count || x[i] < low) low = x[i]; \\
            if (!count || x[i] > high) high = x[i]; \\
            row->neg += x[i] < 0; row->zero += x[i] == 0; count++; \\
        } \\
        row->low.FIELD = low; row->high.FIELD = high; row->pos = count - row->neg - row->zero; \\
        return 1; \\
    } \\
    PASS static int NAME##_range(const T *x, int64_t n, Row *row) { \\
        T low[LANES], high[LANES]; \\
        for (int k = 0; k < LANES; k++) low[k] = high[k] = x[0]; \\
        int64_t i = 0, neg = 0, zero = 0, bad = 0; \\
        while (n - i >= LANES) { \\
            COUNT negs[LANES] = {0}, zeros[LANES] = {0}, bads[LANES] = {0}; \\
            int64_t end = n - i > 1 << 20 ? i + (1 << 20) : n; \\
            for (; end - i >= LANES; i += LANES) \\
                for (int k = 0; k < LANES; k++) { \\
                    T v = x[i + k]; \\
                    low[k] = v < low[k] ? v : low[k]; \\
                    high[k] = v > high[k] ? v : high[k]; \\
                    negs[k] += v < 0; zeros[k] += v == 0; \\
                    if (IS_FLOAT) bads[k] += v - v != 0; \\
                } \\
            for (int k = 0; k < LANES; k++) { neg += negs[k]; zero += zeros[k]; bad += bads[k]; } \\
            if (bad) return 0; \\
        } \\
        for (; i < n; i++) { \\
            T v = x[i]; \\
            low[0] = v < low[0] ? v : low[0]; high[0] = v > high[0] ? v : high[0]; \\
            neg += v < 0; zero += v == 0; \\
            if (IS_FLOAT) bad += v - v != 0; \\
        } \\
        if (bad) return 0; \\
        for (int k = 1; k < LANES; k++) { \\
            if (low[k] < low[0]) low[0] = low[k]; \\
            if (high[k] > high[0]) high[0] = high[k]; \\
        } \\
        row->low.FIELD = low[0]; row->high.FIELD = high[0]; \\
        row->neg = neg; row->zero = zero; row->pos = n - neg - zero; \\
        return 1; \\
    } \\
    static int NAME##_places_careful(const T *x, int64_t n, Row *row, double low, double factor, double *sums) { \\
        sums[0] = sums[1] = 0; \\
        for (int64_t i = 0; i < n; i++) { \\
            if (IS_FLOAT && !(x[i] - x[i] == 0)) continue; \\
            double p = ((double)x[i] - low) * factor; \\
            if (!(p >= 0 && p < BINS + 1)) return 0;         /* another thread writes to it */ \\
            sums[0] += p; sums[1] += p * p; \\
            row->bins[p < BINS ? (int)p : BINS - 1]++; \\
        } \\
        return 1; \\
    } \\
    PASS static int NAME##_places(const T *x, int64_t n, Row *row, double low, double factor, double *sums) { \\
        double totals[8] = {0}, squares[8] = {0}; \\
        uint8_t places[PIECE]; \\
        uint32_t tables[4][256]; \\
        memset(tables, 0, sizeof tables); \\
        int64_t i = 0; \\
        for (; n - i >= PIECE; i += PIECE) { \\
            for (int j = 0; j < PIECE; j += 8) \\
                for (int k = 0; k < 8; k++) { \\
                    double p = ((double)x[i + j + k] - low) * factor; \\
                    totals[k] += p; squares[k] += p * p; \\
                    places[j + k] = (uint8_t)(int32_t)p; \\
                } \\
            for (int j = 0; j < PIECE; j += 4) { \\
                tables[0][places[j]]++; tables[1][places[j + 1]]++; tables[2][places[j + 2]]++; tables[3][places[j + 3]]++; \\
            } \\
        } \\
        if (!NAME##_places_careful(x + i, n - i, row, low, factor, sums)) return 0; \\
        for (int t = 0; t < 4; t++) { \\
            for (int b = 0; b < BINS; b++) row->bins[b] += tables[t][b]; \\
            row->bins[BINS - 1] += tables[t][BINS]; \\
            for (int b = BINS + 1; b < 256; b++) if (tables[t][b]) return 0;     /* another thread writes to it */ \\
        } \\
        for (int k = 0; k < 8; k++) { sums[0] += totals[k]; sums[1] += squares[k]; } \\
        return 1; \\
    } \\
    static int NAME##_row(const T *x, int64_t n, Row *row, int moments) { \\
        memset(row, 0, sizeof(Row)); \\
        row->size = n; row->first_bad = -1; \\
        if (!n) return 1; \\
        int clean = NAME##_range(x, n, row); \\
        if (!clean) NAME##_careful(x, n, row); \\
        int64_t count = row->neg + row->zero + row->pos; \\
        if (!count || !moments) return 1; \\
        double low = (double)row->low.FIELD, high = (double)row->high.FIELD, width = high - low, sums[2]; \\
        double largest = fabs(low) > fabs(high) ? fabs(low) : fabs(high); \\
        if (IS_FLOAT && sizeof(T) == 8 && (largest > 1e150 || (largest > 0 && largest < 1e-150))) return 0; \\
        if (!(width > 0)) { row->mean = low; row->bins[BINS / 2] = (uint32_t)count; return count < UINT32_MAX; } \\
        if (n >= UINT32_MAX || !(clean && n >= PIECE ? NAME##_places : NAME##_places_careful)(x, n, row, low, BINS / width, sums)) return 0; \\
        return row_moments(row, sums[0], sums[1], count, low, high, width); \\
    }

    DEFINE_PASSES(floats, float, int32_t, 16, 1, real)
    DEFINE_PASSES(doubles, double, int64_t, 8, 1, real)
    DEFINE_PASSES(ints, int32_t, int32_t, 16, 0, whole)
    DEFINE_PASSES(longs, int64_t, int64_t, 8, 0, whole)

    static int fill_row(char type, const void *x, int64_t n, Row *row, int moments) {
        switch (type) {
            case 'f': return floats_row((const float *)x, n, row, moments);
            case 'd': return doubles_row((const double *)x, n, row, moments);
            case 'i': return ints_row((const int32_t *)x, n, row, moments);
            case 'l': return longs_row((const int64_t *)x, n, row, moments);
        }
        return 0;
    }
    """
    ctypedef struct Row:
        pass
    int fill_row(char type, const void *x, int64_t n, Row *row, int moments) nogil

cdef struct Source:
    char type
    const void *data
    int64_t count
    bint held, done

def fill_rows(list arrays, object rows, bint moments=True):
    """Compute the statistics of arrays, while other threads run.

    Args:
        arrays: Each of any type and shape.
        rows: An array of as many `statistics.ROW`; they are written to.
        moments: Compute all; else counts and range only: a tenth of the work.

    Returns:
        The places of those whose row is not filled: they are to be computed with NumPy.
    """
    cdef Py_ssize_t i, n = len(arrays)
    cdef Py_buffer target
    cdef Py_buffer *views
    cdef Source *sources
    cdef Row *first
    PyObject_GetBuffer(rows, &target, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    if target.len < n * <Py_ssize_t>sizeof(Row):
        PyBuffer_Release(&target)
        raise ValueError(f'{n} arrays need as many rows')
    views = <Py_buffer *>PyMem_Malloc(max(n, 1) * sizeof(Py_buffer))
    sources = <Source *>PyMem_Malloc(max(n, 1) * sizeof(Source))
    if not views or not sources:
        PyMem_Free(views)
        PyMem_Free(sources)
        PyBuffer_Release(&target)
        raise MemoryError
    first = <Row *>target.buf
    for i in range(n):
        sources[i].type, sources[i].data, sources[i].count, sources[i].held = 0, NULL, 0, False
    try:
        for i in range(n):
            try:
                PyObject_GetBuffer(arrays[i], &views[i], PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
            except (ValueError, BufferError, TypeError):    # not in one piece, or of a type that buffers have no name for
                continue
            sources[i].held = True
            if views[i].format != NULL and views[i].format[0] != 0 and views[i].format[1] == 0:
                sources[i].type = views[i].format[0]
                if sources[i].type == b'q' or (sources[i].type == b'l' and views[i].itemsize == 4):
                    sources[i].type = b'l' if views[i].itemsize == 8 else b'i'
                sources[i].data, sources[i].count = views[i].buf, views[i].len // max(views[i].itemsize, 1)
        with nogil:
            for i in range(n):
                sources[i].done = fill_row(sources[i].type, sources[i].data, sources[i].count, &first[i], moments)
        return [i for i in range(n) if not sources[i].done]
    finally:
        for i in range(n):
            if sources[i].held:
                PyBuffer_Release(&views[i])
        PyMem_Free(views)
        PyMem_Free(sources)
        PyBuffer_Release(&target)


ROW_SIZE = sizeof(Row)
"""Bytes of a row."""
