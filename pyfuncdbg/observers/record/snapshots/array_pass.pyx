# cython: boundscheck=False, wraparound=False, cdivision=True, auto_pickle=False
"""Statistics of arrays in compiled code, in one pass over memory: counts, range, moments and histogram.

Called by `statistics`, which computes the same with NumPy where this was not compiled, and for what it leaves alone: types
other than those of `fill_row`, and floats near the ends of their range. Other threads run meanwhile.
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
    #define PASS __attribute__((optimize("O3", "fp-contract=off"), target_clones("avx512f", "avx2", "default")))
    #define HAS_VECTORS 1
    #else
    #define PASS
    #define HAS_VECTORS 0
    #endif
    #define OCTAVES 16
    #define LANES 32                                        /* fewer are unrolled by GCC, and not put into vectors */
    #define PIECE 2048                                      /* elements: all loops but the first read the first cache */

    typedef union { double real; int64_t whole; } Number;
    typedef struct {
        int64_t size, nan, neg_inf, neg, zero, pos, pos_inf, first_bad;
        Number low, high;
        double mean, std;
        uint32_t bins[2 * OCTAVES];
    } Row;
    /* Of the finite elements so far: their number, the biased exponent of the largest, moments about the first, and how many
       there are by sign and by octaves below that largest, from the smallest on: in [0] and [OCTAVES] all others. */
    typedef struct {
        int64_t count;
        int32_t top;
        double shift, total, squares;
        uint32_t table[2 * OCTAVES];
    } Sums;

    /* Comparing with each bin in vectors takes half the time of counting one by one: most elements are in few bins. */
    #define DEFINE_COUNT(NAME, WIDTH, TARGET) \\
    typedef uint8_t Vector##WIDTH __attribute__((vector_size(WIDTH), aligned(1), may_alias)); \\
    TARGET static void NAME(const uint8_t *bin, int64_t n, uint32_t *table, int from) { \\
        for (int b = from; b < 2 * OCTAVES; b += 4) { \\
            Vector##WIDTH sums[4] = {{0}, {0}, {0}, {0}};   /* of at most PIECE / WIDTH vectors: no byte overflows */ \\
            for (int64_t i = 0; i < n; i += WIDTH) { \\
                Vector##WIDTH v = *(const Vector##WIDTH *)(bin + i); \\
                for (int j = 0; j < 4; j++) sums[j] -= (Vector##WIDTH)(v == (uint8_t)(b + j)); \\
            } \\
            for (int j = 0; j < 4; j++) { \\
                uint8_t lanes[WIDTH]; \\
                memcpy(lanes, &sums[j], WIDTH); \\
                for (int k = 0; k < WIDTH; k++) table[b + j] += lanes[k]; \\
            } \\
        } \\
    }
    #if HAS_VECTORS
    DEFINE_COUNT(count_by_64, 64, __attribute__((optimize("O3"), target("avx512bw"))))
    DEFINE_COUNT(count_by_32, 32, __attribute__((optimize("O3"), target("avx2"))))
    DEFINE_COUNT(count_by_16, 16, __attribute__((optimize("O3"))))
    #endif
    static void count_bins(const uint8_t *bin, int64_t n, uint32_t *table, int from) {
        int64_t i = 0;
    #if HAS_VECTORS
        if (n >= 512) {
            i = n & ~63;
            (__builtin_cpu_supports("avx512bw") ? count_by_64 : __builtin_cpu_supports("avx2") ? count_by_32 : count_by_16)(
                bin, i, table, from);
        }
    #endif
        for (; i < n; i++) table[bin[i]]++;
    }

    /* A larger element than all before: what was counted is further below the largest now. */
    static void raise_top(Sums *sums, int32_t top) {
        int by = top - sums->top < OCTAVES ? top - sums->top : OCTAVES - 1;
        if (sums->count)
            for (int sign = 0; sign < 2; sign++) {
                uint32_t *table = sums->table + sign * OCTAVES;
                for (int k = 1; k <= by; k++) table[0] += table[k];
                for (int k = 1; k < OCTAVES; k++) table[k] = k + by < OCTAVES ? table[k + by] : 0;
            }
        sums->top = top;
    }

    static uint64_t double_bits(double v) { uint64_t bits; memcpy(&bits, &v, 8); return bits; }
    static double double_of(uint64_t bits) { double v; memcpy(&v, &bits, 8); return v; }
    static uint32_t float_bits(float v) { uint32_t bits; memcpy(&bits, &v, 4); return bits; }
    static float float_of(uint32_t bits) { float v; memcpy(&v, &bits, 4); return v; }

    #define DEFINE_MEASURES(NAME, REAL, BITS, MANTISSA, EXPONENTS) \\
    static int32_t NAME##_exponent(REAL v) { return (int32_t)(BITS(v) >> MANTISSA) & EXPONENTS; } \\
    PASS static void NAME##_moments(const REAL *x, int64_t n, Sums *sums) { \\
        double total[LANES] = {0}, squares[LANES] = {0}, shift = sums->shift; \\
        int64_t i = 0; \\
        for (; n - i >= LANES; i += LANES) \\
            for (int k = 0; k < LANES; k++) { \\
                double d = (double)x[i + k] - shift; \\
                total[k] += d; squares[k] += d * d; \\
            } \\
        for (; i < n; i++) { double d = (double)x[i] - shift; total[0] += d; squares[0] += d * d; } \\
        for (int k = 0; k < LANES; k++) { sums->total += total[k]; sums->squares += squares[k]; } \\
    } \\
    PASS static void NAME##_bins(const REAL *x, int64_t n, int32_t top, uint8_t *bins) { \\
        int32_t least = top - OCTAVES + 1; \\
        for (int64_t i = 0; i < n; i++) { \\
            int32_t octave = ((int32_t)(BITS(x[i]) >> MANTISSA) & EXPONENTS) - least; \\
            octave = octave < 0 ? 0 : octave; \\
            octave = octave < OCTAVES ? octave : OCTAVES - 1;       /* another thread may write to it */ \\
            bins[i] = (uint8_t)(octave + (BITS(x[i]) >> (8 * sizeof(REAL) - 1) ? 0 : OCTAVES)); \\
        } \\
    } \\
    static void NAME##_measures(const REAL *x, int64_t n, REAL low, REAL high, Sums *sums) { \\
        uint8_t bins[PIECE]; \\
        int32_t top = NAME##_exponent(low) > NAME##_exponent(high) ? NAME##_exponent(low) : NAME##_exponent(high); \\
        if (!sums->count) sums->shift = (double)x[0]; \\
        if (!sums->count || top > sums->top) raise_top(sums, top); \\
        sums->count += n; \\
        NAME##_moments(x, n, sums); \\
        NAME##_bins(x, n, sums->top, bins); \\
        count_bins(bins, n, sums->table, low < 0 ? 0 : OCTAVES); \\
    }

    #define DEFINE_PASS(NAME, T, COUNT, IS_FLOAT, FIELD, MEASURES, REAL, VALUE) \\
    /* Range and counts of a piece; returns whether an element is NaN or infinite, and then nothing else is of use. */ \\
    PASS static int NAME##_range(const T *x, int64_t n, T *lowest, T *highest, int64_t *negative, int64_t *zeros) { \\
        T low[LANES], high[LANES]; \\
        COUNT neg[LANES] = {0}, zero[LANES] = {0}, bad[LANES] = {0}; \\
        int64_t i = 0; \\
        for (int k = 0; k < LANES; k++) low[k] = high[k] = x[0]; \\
        for (; n - i >= LANES; i += LANES) \\
            for (int k = 0; k < LANES; k++) { \\
                T v = x[i + k]; \\
                low[k] = v < low[k] ? v : low[k]; \\
                high[k] = v > high[k] ? v : high[k]; \\
                neg[k] += v < 0; zero[k] += v == 0; \\
                if (IS_FLOAT) bad[k] += v - v != 0; \\
            } \\
        for (; i < n; i++) { \\
            T v = x[i]; \\
            low[0] = v < low[0] ? v : low[0]; high[0] = v > high[0] ? v : high[0]; \\
            neg[0] += v < 0; zero[0] += v == 0; \\
            if (IS_FLOAT) bad[0] += v - v != 0; \\
        } \\
        for (int k = 1; k < LANES; k++) { \\
            if (low[k] < low[0]) low[0] = low[k]; \\
            if (high[k] > high[0]) high[0] = high[k]; \\
            neg[0] += neg[k]; zero[0] += zero[k]; bad[0] += bad[k]; \\
        } \\
        *lowest = low[0]; *highest = high[0]; *negative = neg[0]; *zeros = zero[0]; \\
        return bad[0] != 0; \\
    } \\
    PASS static void NAME##_convert(const T *x, int64_t n, REAL *y) { for (int64_t i = 0; i < n; i++) y[i] = VALUE(x[i]); } \\
    static void NAME##_piece(const T *x, int64_t n, int64_t start, Row *row, Sums *sums) { \\
        T low, high, good[IS_FLOAT ? PIECE : 1]; \\
        REAL real[IS_FLOAT ? 1 : PIECE]; \\
        int64_t neg, zero; \\
        if (NAME##_range(x, n, &low, &high, &neg, &zero)) { \\
            int64_t count = 0; \\
            for (int64_t i = 0; i < n; i++) { \\
                T v = x[i]; \\
                if (v - v == 0) { good[IS_FLOAT ? count : 0] = v; count++; continue; } \\
                if (row->first_bad < 0) row->first_bad = start + i; \\
                if (v != v) row->nan++; else if (v > 0) row->pos_inf++; else row->neg_inf++; \\
            } \\
            if (!count) return; \\
            x = good; n = count; \\
            NAME##_range(x, n, &low, &high, &neg, &zero); \\
        } \\
        if (!sums->count || low < row->low.FIELD) row->low.FIELD = low; \\
        if (!sums->count || high > row->high.FIELD) row->high.FIELD = high; \\
        row->neg += neg; row->zero += zero; row->pos += n - neg - zero; \\
        if (!IS_FLOAT) NAME##_convert(x, n, real); \\
        MEASURES##_measures(IS_FLOAT ? (const REAL *)x : real, n, (REAL)low, (REAL)high, sums); \\
    } \\
    static void NAME##_pieces(const T *x, int64_t n, Row *row, Sums *sums) { \\
        for (int64_t i = 0; i < n; i += PIECE) NAME##_piece(x + i, n - i < PIECE ? n - i : PIECE, i, row, sums); \\
    }

    /* Elements of another type S, a piece at a time converted to T, which holds them exactly. */
    #define DEFINE_CONVERTED(NAME, S, T, KIND, VALUE) \\
    PASS static void NAME##_convert(const S *x, int64_t n, T *y) { for (int64_t i = 0; i < n; i++) y[i] = VALUE(x[i]); } \\
    static void NAME##_pieces(const S *x, int64_t n, Row *row, Sums *sums) { \\
        T y[PIECE]; \\
        for (int64_t i = 0; i < n; i += PIECE) { \\
            int64_t count = n - i < PIECE ? n - i : PIECE; \\
            NAME##_convert(x + i, count, y); \\
            KIND##_piece(y, count, i, row, sums); \\
        } \\
    }

    static float half_value(uint16_t half) {
        uint32_t bits = (uint32_t)(half & 0x7fff) << 13, sign = (uint32_t)(half & 0x8000) << 16;
        float magnitude = float_of(bits) * 0x1p112f;        /* of the other bias; right for subnormal numbers, too */
        return float_of(float_bits(magnitude) | (bits >= 0x0f800000 ? 0x7f800000 : 0) | sign);
    }
    /* The two halves as doubles by their bits, then one sum: older processors cannot convert these in vectors. */
    static double long_value(int64_t v) {
        double high = double_of((((uint64_t)v >> 32) ^ 0x80000000) | 0x4530000000000000);
        return (high - 0x1.0000080100000p84) + double_of(((uint64_t)v & 0xffffffff) | 0x4330000000000000);
    }
    typedef struct { float real, imag; } Complex;
    static double magnitude(Complex v) {
        double real = v.real, imag = v.imag;
        return sqrt(real * real + imag * imag);             /* no square of a float overflows */
    }
    #define SAME(v) (v)

    DEFINE_MEASURES(floats, float, float_bits, 23, 255)
    DEFINE_MEASURES(doubles, double, double_bits, 52, 2047)
    DEFINE_PASS(floats, float, int32_t, 1, real, floats, float, SAME)
    DEFINE_PASS(doubles, double, int64_t, 1, real, doubles, double, SAME)
    DEFINE_PASS(ints, int32_t, int32_t, 0, whole, doubles, double, SAME)
    DEFINE_PASS(longs, int64_t, int64_t, 0, whole, doubles, double, long_value)
    DEFINE_CONVERTED(halves, uint16_t, float, floats, half_value)
    DEFINE_CONVERTED(small_floats, float, double, doubles, SAME)
    DEFINE_CONVERTED(complexes, Complex, double, doubles, magnitude)
    DEFINE_CONVERTED(bytes, int8_t, int32_t, ints, SAME)
    DEFINE_CONVERTED(shorts, int16_t, int32_t, ints, SAME)
    DEFINE_CONVERTED(unsigned_bytes, uint8_t, int32_t, ints, SAME)
    DEFINE_CONVERTED(unsigned_shorts, uint16_t, int32_t, ints, SAME)
    DEFINE_CONVERTED(unsigned_ints, uint32_t, int64_t, longs, SAME)

    static int begin_row(Row *row, int64_t n, Sums *sums) {
        memset(row, 0, sizeof(Row));
        memset(sums, 0, sizeof(Sums));
        row->size = n; row->first_bad = -1;
        return n > 0 && n < UINT32_MAX;
    }

    static int end_row(Row *row, Sums *sums, double low, double high) {
        if (!sums->count) return 1;
        double offset = sums->total / sums->count, spread = sums->squares / sums->count - offset * offset;
        double mean = sums->shift + offset;
        if (spread - spread != 0) return 0;
        row->mean = mean < low ? low : mean > high ? high : mean;
        row->std = sqrt(spread > 0 ? spread : 0);
        int64_t neg = row->neg, pos = row->pos;
        for (int k = 0; k < OCTAVES - 1; k++) {
            neg -= row->bins[k] = sums->table[OCTAVES - 1 - k];
            pos -= row->bins[2 * OCTAVES - 1 - k] = sums->table[2 * OCTAVES - 1 - k];
        }
        row->bins[OCTAVES - 1] = (uint32_t)neg;             /* without the zeros that were counted */
        row->bins[OCTAVES] = (uint32_t)pos;
        return neg >= 0 && pos >= 0;                        /* else another thread writes to it */
    }

    static double larger(Row *row) { return fmax(fabs(row->low.real), fabs(row->high.real)); }

    static int fill_row(char type, const void *x, int64_t n, Row *row) {
        Sums sums;
        int some = begin_row(row, n, &sums), is_whole = 0;
        if (!type) return 0;                                /* not read: its elements are not counted */
        if (!n) return 1;
        if (!some) return 0;
        switch (type) {
            case '?': return 1;
            case 'e': halves_pieces((const uint16_t *)x, n, row, &sums); break;
            case 'f':
                floats_pieces((const float *)x, n, row, &sums);
                if (!sums.count || larger(row) > 0x1p-110 || larger(row) == 0) break;
                begin_row(row, n, &sums);                   /* subnormal floats have no exponent */
                small_floats_pieces((const float *)x, n, row, &sums);
                break;
            case 'd': doubles_pieces((const double *)x, n, row, &sums); break;
            case 'F': complexes_pieces((const Complex *)x, n, row, &sums); break;
            case 'b': bytes_pieces((const int8_t *)x, n, row, &sums); is_whole = 1; break;
            case 'B': unsigned_bytes_pieces((const uint8_t *)x, n, row, &sums); is_whole = 1; break;
            case 'h': shorts_pieces((const int16_t *)x, n, row, &sums); is_whole = 1; break;
            case 'H': unsigned_shorts_pieces((const uint16_t *)x, n, row, &sums); is_whole = 1; break;
            case 'i': ints_pieces((const int32_t *)x, n, row, &sums); is_whole = 1; break;
            case 'I': unsigned_ints_pieces((const uint32_t *)x, n, row, &sums); is_whole = 1; break;
            case 'l': longs_pieces((const int64_t *)x, n, row, &sums); is_whole = 1; break;
            default: return 0;
        }
        if (is_whole) return end_row(row, &sums, (double)row->low.whole, (double)row->high.whole);
        if (type == 'd' && sums.count && larger(row) != 0 && !(larger(row) < 1e150 && larger(row) > 1e-150)) return 0;
        return end_row(row, &sums, row->low.real, row->high.real);
    }

    /* Whether elements have an exponent of all ones: NaN or infinity; -1 for a type that is not known. */
    PASS static int any_ones(const uint16_t *x, int64_t n) {
        int bad = 0;
        for (int64_t i = 0; i < n; i++) bad |= (x[i] & 0x7c00) == 0x7c00;
        return bad;
    }
    PASS static int any_ones_4(const uint32_t *x, int64_t n) {
        int bad = 0;
        for (int64_t i = 0; i < n; i++) bad |= (x[i] & 0x7f800000) == 0x7f800000;
        return bad;
    }
    PASS static int any_ones_8(const uint64_t *x, int64_t n) {
        uint64_t bad = 0;
        for (int64_t i = 0; i < n; i++) bad |= (x[i] & 0x7ff0000000000000) + 0x10000000000000;
        return bad >> 63;
    }
    static int has_bad(char type, const void *x, int64_t n) {
        switch (type) {
            case 'e': return any_ones((const uint16_t *)x, n);
            case 'f': return any_ones_4((const uint32_t *)x, n);
            case 'd': return any_ones_8((const uint64_t *)x, n);
            case 'F': return any_ones_4((const uint32_t *)x, 2 * n);
            case 'D': return any_ones_8((const uint64_t *)x, 2 * n);
            case '?': case 'b': case 'B': case 'h': case 'H': case 'i': case 'I': case 'l': case 'L': return 0;
        }
        return -1;
    }
    """
    ctypedef struct Row:
        pass
    int fill_row(char type, const void *x, int64_t n, Row *row) nogil
    int has_bad(char type, const void *x, int64_t n) nogil

cdef struct Source:
    char type
    const void *data
    int64_t count
    int done


cdef class _Sources:
    """Buffers of arrays, held until this is freed."""

    cdef Source *each
    cdef Py_buffer *_views
    cdef Py_ssize_t _held, count

    def __cinit__(self, list arrays):
        cdef Py_ssize_t i
        cdef Py_buffer *view
        self.count = len(arrays)
        self._views = <Py_buffer *>PyMem_Malloc(max(self.count, 1) * sizeof(Py_buffer))
        self.each = <Source *>PyMem_Malloc(max(self.count, 1) * sizeof(Source))
        if not self._views or not self.each:
            raise MemoryError
        for i in range(self.count):
            self.each[i].type, self.each[i].data, self.each[i].count, self.each[i].done = 0, NULL, 0, 0
            view = &self._views[self._held]
            try:
                PyObject_GetBuffer(arrays[i], view, PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)
            except (ValueError, BufferError, TypeError):    # not in one piece, or of a type that buffers have no name for
                continue
            self._held += 1
            self.each[i].type = _type_of(view)
            self.each[i].data, self.each[i].count = view.buf, view.len // max(view.itemsize, 1)

    def __dealloc__(self):
        for i in range(self._held):
            PyBuffer_Release(&self._views[i])
        PyMem_Free(self._views)
        PyMem_Free(self.each)


cdef char _type_of(Py_buffer *view):
    """The character of a type as NumPy has it, of integers by their size; 0 for another."""
    cdef const char *name = view.format
    if name == NULL or name[0] == 0:
        return 0
    if name[0] == b'Z' and name[1] and not name[2]:
        return b'F' if name[1] == b'f' else b'D' if name[1] == b'd' else 0
    if name[1]:
        return 0
    if name[0] == b'l' or name[0] == b'q':
        return b'l' if view.itemsize == 8 else b'i'
    if name[0] == b'L' or name[0] == b'Q':
        return b'L' if view.itemsize == 8 else b'I'
    return name[0]


def fill_rows(list arrays, object rows):
    """Compute the statistics of arrays, while other threads run.

    Args:
        arrays: Each of any type and shape.
        rows: An array of as many `statistics.ROW`; they are written to.

    Returns:
        The places of those whose row is not filled: they are to be computed with NumPy.
    """
    cdef _Sources sources = _Sources(arrays)
    cdef Py_buffer target
    cdef Py_ssize_t i
    cdef Row *first
    PyObject_GetBuffer(rows, &target, PyBUF_C_CONTIGUOUS | PyBUF_WRITABLE)
    try:
        if target.itemsize != sizeof(Row) or target.len < sources.count * <Py_ssize_t>sizeof(Row):
            raise ValueError(f'rows of {target.itemsize} bytes, {target.len} in all; expected {sources.count} of {sizeof(Row)}')
        first = <Row *>target.buf
        with nogil:
            for i in range(sources.count):
                sources.each[i].done = fill_row(sources.each[i].type, sources.each[i].data, sources.each[i].count, &first[i])
        return [i for i in range(sources.count) if not sources.each[i].done]
    finally:
        PyBuffer_Release(&target)


def find_bad(list arrays):
    """Look for NaN and infinities in arrays, while other threads run.

    Args:
        arrays: Each of any type and shape.

    Returns:
        For each 1 or 0; -1 where it is to be looked at with NumPy.
    """
    cdef _Sources sources = _Sources(arrays)
    cdef Py_ssize_t i
    with nogil:
        for i in range(sources.count):
            sources.each[i].done = has_bad(sources.each[i].type, sources.each[i].data, sources.each[i].count)
    return [sources.each[i].done for i in range(sources.count)]
