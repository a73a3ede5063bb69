/* Cosine and sine features of rows, and their sums: the hot loop of the library without Python's lock.

   sums(values, projection, weights, bounds, out)
       out[b] = sum of weight exp(2 pi i x.projection) over the rows from bounds[b] to bounds[b + 1]
   features(values, projection, weights, out, sums)
       out = [cos, sin] of all rows in float32, and sums = their weighted sum in float64
   instructions()
       the instruction set in use

   Values are float64 of shape (n, d), the projection is float64 of shape (d, m) and gives turns, weights are float64 or None.
   The caller has checked that all is finite and that x.projection stays below 2^51 turns.

   No state is kept between calls, so that threads and forks need no care. A sum depends on its rows alone. It has the same
   bits on all machines with fused multiply-add (AVX2, AVX-512); others differ by less than the error of a feature. */

#define PY_SSIZE_T_CLEAN
#include <Python.h>

#include <float.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#if FLT_EVAL_METHOD != 0 || defined(__FAST_MATH__) || defined(_M_FP_FAST)
#error "whole turns are taken off by rounding to float64, which this compiler would leave out; numpy does the work then"
#endif

#define ROUNDER 6755399441055744.0 /* 1.5 * 2^52: what is added to it is rounded to an integer */
#define ROWS_IN_FLOAT 8            /* rows that are summed in float32 */
#define ROWS_IN_CACHE 256          /* rows that all strips see before the next rows come */

/* sin(pi f) / f and cos(pi f) in powers of f^2, for f in [-1/2, 1/2]. The coefficients were rounded to float32 one after the
   other, and those that remained fitted again (minimax), so that no error of theirs has a sign that adds up in a mean. */
#define S0 3.1415927410125732f
#define S1 -5.1677141189575195f
#define S2 2.55012583732605f
#define S3 -0.5985169410705566f
#define S4 0.0780201405286789f
#define C0 1.0f
#define C1 -4.934802f
#define C2 4.0587053f
#define C3 -1.3351616f
#define C4 0.23468375f
#define C5 -0.023963781f

/* Where the features of a strip go: rows are `stride` floats apart, and sines lie `to_sines` floats after cosines. */
typedef struct {
    float *features;
    int width;
    ptrdiff_t stride, to_sines;
} Tile;

typedef void StripFunction(
    const double *x, const double *weights, ptrdiff_t n, ptrdiff_t d, const double *strip, double *sums, Tile out
);

typedef struct {
    const char *title;
    int n_lanes;
    StripFunction *strip;
} Instructions;

#define JOINED(a, b) a##_##b

#if defined(__clang__) || (defined(__GNUC__) && __GNUC__ >= 9)
#define HAS_VECTORS
#define INLINE static inline __attribute__((always_inline))
#define UNROLL _Pragma("GCC unroll 4")
#else
#define INLINE static inline
#define UNROLL
#endif

#ifdef HAS_VECTORS
#define NAME(x) JOINED(x, vector)
#define TITLE "vectors of 128 bits"
#define TARGET
#define N_LANES 4
#include "_lanes.h"
#else
#define NAME(x) JOINED(x, scalar)
#define TITLE "no vectors"
#define TARGET
#define N_LANES 1
#include "_lanes.h"
#endif

#if defined(HAS_VECTORS) && defined(__x86_64__)
#define HAS_AVX

#define NAME(x) JOINED(x, avx2)
#define TITLE "AVX2"
#define TARGET __attribute__((target("avx2,fma")))
#define N_LANES 8
#include "_lanes.h"

#define NAME(x) JOINED(x, avx512)
#define TITLE "AVX-512"
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,avx512bw,fma")))
#define N_LANES 16
#include "_lanes.h"
#endif

/* The instructions for whole strips, and those for the last one where it is narrow; set when the module loads. */
static const Instructions *whole, *rest;

static void choose_instructions(void) {
#ifdef HAS_AVX
    __builtin_cpu_init();
    const int avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    const int avx512 = avx2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
                       __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512bw");
    /* UPTONOISE_KERNEL can ask for less than the machine has, so that all of it can be tested on one. */
    const char *asked = getenv("UPTONOISE_KERNEL");
    const int baseline = asked && strcmp(asked, "baseline") == 0;
    if (avx2 && !baseline) {
        rest = &instructions_avx2;
        whole = avx512 && !(asked && strcmp(asked, "avx2") == 0) ? &instructions_avx512 : rest;
        return;
    }
#endif
#ifdef HAS_VECTORS
    whole = rest = &instructions_vector;
#else
    whole = rest = &instructions_scalar;
#endif
}

/* One strip of frequencies: from `start`, `width` of them, with their projection packed. */
typedef struct {
    const Instructions *with;
    ptrdiff_t start;
    int width;
    const double *packed;
} Strip;

typedef struct {
    ptrdiff_t n_columns, n_frequencies, n_strips;
    Strip *strips;
    double *packed; /* the projection of all strips */
    double *sums;   /* 2 * lanes numbers for each strip, one after the other */
    size_t n_sums;
} Plan;

static void free_plan(Plan *plan) {
    free(plan->strips);
    free(plan->packed);
    free(plan->sums);
}

/* Cut the frequencies into strips and pack their projection; return 0 where there is no memory. */
static int make_plan(Plan *plan, const double *projection, ptrdiff_t d, ptrdiff_t m) {
    const ptrdiff_t lanes = whole->n_lanes, n_strips = (m + lanes - 1) / lanes;
    const size_t n_lanes = (size_t)(n_strips * lanes);
    *plan = (Plan){d, m, n_strips, NULL, NULL, NULL, 2 * n_lanes};
    plan->strips = calloc((size_t)n_strips, sizeof(Strip));
    plan->packed = calloc(n_lanes * (size_t)d, sizeof(double));
    plan->sums = calloc(2 * n_lanes, sizeof(double));
    if (!plan->strips || !plan->packed || !plan->sums) {
        free_plan(plan);
        return 0;
    }
    double *packed = plan->packed;
    for (ptrdiff_t number = 0; number < n_strips; number++) {
        const ptrdiff_t start = number * lanes;
        const int width = (int)(m - start < lanes ? m - start : lanes);
        const Instructions *with = width <= rest->n_lanes ? rest : whole;
        for (ptrdiff_t k = 0; k < d; k++)
            memcpy(packed + k * with->n_lanes, projection + k * m + start, (size_t)width * sizeof(double));
        plan->strips[number] = (Strip){with, start, width, packed};
        packed += d * with->n_lanes;
    }
    return 1;
}

/* Add rows to the sums of the plan, and write their features, n_frequencies apart, where there is a place for them. */
static void run(const Plan *plan, const double *values, const double *weights, ptrdiff_t n, float *features) {
    const ptrdiff_t d = plan->n_columns, m = plan->n_frequencies;
    for (ptrdiff_t first = 0; first < n; first += ROWS_IN_CACHE) {
        const ptrdiff_t n_rows = n - first < ROWS_IN_CACHE ? n - first : ROWS_IN_CACHE;
        double *sums = plan->sums;
        for (ptrdiff_t number = 0; number < plan->n_strips; number++) {
            const Strip *strip = &plan->strips[number];
            const Tile tile = {
                features ? features + first * 2 * m + strip->start : NULL, strip->width, 2 * m, m
            };
            strip->with->strip(
                values + first * d, weights ? weights + first : NULL, n_rows, d, strip->packed, sums, tile
            );
            sums += 2 * strip->with->n_lanes;
        }
    }
}

/* Move the sums of the plan to out, where numbers of a frequency are `step` apart and sines `to_sines` after cosines. */
static void move_sums(const Plan *plan, double *out, ptrdiff_t step, ptrdiff_t to_sines) {
    const double *sums = plan->sums;
    for (ptrdiff_t number = 0; number < plan->n_strips; number++) {
        const Strip *strip = &plan->strips[number];
        double *place = out + strip->start * step;
        for (int lane = 0; lane < strip->width; lane++) {
            place[lane * step] = sums[lane];
            place[lane * step + to_sines] = sums[strip->with->n_lanes + lane];
        }
        sums += 2 * strip->with->n_lanes;
    }
    memset(plan->sums, 0, plan->n_sums * sizeof(double));
}

/* An argument as contiguous memory of one of the given types and some dimensions; None gives none where that is allowed. */
typedef struct {
    const char *name, *formats;
    int n_dimensions, is_written, may_be_none;
} Expected;

static int take(PyObject *object, Py_buffer *view, Expected expected) {
    if (object == Py_None && expected.may_be_none)
        return 1;
    int flags = PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (expected.is_written ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) < 0)
        return 0;
    const char *format = view->format ? view->format : "B";
    const char *type = format[0] == 'Z' ? format + 1 : format;
    const int is_complex = format[0] == 'Z', is_expected_complex = expected.formats[0] == 'Z';
    if (view->ndim != expected.n_dimensions || is_complex != is_expected_complex || type[0] == '\0' || type[1] != '\0' ||
        !strchr(expected.formats + is_expected_complex, type[0])) {
        PyErr_Format(
            PyExc_ValueError, "%s must be a contiguous array of %d dimensions and of the type %s; got %d and %s",
            expected.name, expected.n_dimensions, expected.formats, view->ndim, format
        );
        return 0;
    }
    return 1;
}

static int has_shape(const Py_buffer *view, const char *name, Py_ssize_t rows, Py_ssize_t columns) {
    if (!view->obj)
        return 1;
    if (view->shape[0] == rows && (view->ndim == 1 || view->shape[1] == columns))
        return 1;
    PyErr_Format(
        PyExc_ValueError, "%s must have %zd rows and %zd columns; got %zd and %zd", name, rows, columns, view->shape[0],
        view->ndim == 1 ? (Py_ssize_t)1 : view->shape[1]
    );
    return 0;
}

enum { VALUES, PROJECTION, WEIGHTS, FIRST, SECOND, N_ARGUMENTS };

/* Take all arguments, and check the shapes that both functions need. */
static int take_all(PyObject *args, Py_buffer *views, Expected first, Expected second) {
    const Expected expected[N_ARGUMENTS] = {
        {"values", "d", 2, 0, 0}, {"projection", "d", 2, 0, 0}, {"weights", "d", 1, 0, 1}, first, second
    };
    PyObject *objects[N_ARGUMENTS];
    if (!PyArg_ParseTuple(args, "OOOOO", &objects[0], &objects[1], &objects[2], &objects[3], &objects[4]))
        return 0;
    for (int i = 0; i < N_ARGUMENTS; i++)
        if (!take(objects[i], &views[i], expected[i]))
            return 0;
    const Py_ssize_t n = views[VALUES].shape[0], d = views[VALUES].shape[1], m = views[PROJECTION].shape[1];
    if (d == 0 || m == 0) {
        PyErr_SetString(PyExc_ValueError, "values and projection must have at least one column");
        return 0;
    }
    return has_shape(&views[PROJECTION], "projection", d, m) && has_shape(&views[WEIGHTS], "weights", n, 1);
}

static void release_all(Py_buffer *views) {
    for (int i = 0; i < N_ARGUMENTS; i++)
        if (views[i].obj)
            PyBuffer_Release(&views[i]);
}

static int are_bounds(const int64_t *bounds, Py_ssize_t n_bags, Py_ssize_t n_rows) {
    for (Py_ssize_t bag = 0; bag < n_bags; bag++)
        if (bounds[bag] > bounds[bag + 1])
            return 0;
    return bounds[0] >= 0 && bounds[n_bags] <= n_rows;
}

/* Make a plan, do the work without Python's lock, and return None, or NULL with an error. */
typedef void Work(const Plan *plan, const Py_buffer *views);

static PyObject *work_on(Work *work, const Py_buffer *views) {
    Plan plan;
    int has_plan;
    Py_BEGIN_ALLOW_THREADS
    has_plan = make_plan(&plan, views[PROJECTION].buf, views[VALUES].shape[1], views[PROJECTION].shape[1]);
    if (has_plan) {
        work(&plan, views);
        free_plan(&plan);
    }
    Py_END_ALLOW_THREADS
    if (!has_plan)
        return PyErr_NoMemory();
    Py_RETURN_NONE;
}

static void sum_bags(const Plan *plan, const Py_buffer *views) {
    const double *values = views[VALUES].buf, *weights = views[WEIGHTS].buf;
    const int64_t *bounds = views[FIRST].buf;
    double *out = views[SECOND].buf;
    const Py_ssize_t n_bags = views[SECOND].shape[0];
    for (Py_ssize_t bag = 0; bag < n_bags; bag++, out += 2 * plan->n_frequencies) {
        const ptrdiff_t start = (ptrdiff_t)bounds[bag], stop = (ptrdiff_t)bounds[bag + 1];
        run(plan, values + start * plan->n_columns, weights ? weights + start : NULL, stop - start, NULL);
        move_sums(plan, out, 2, 1);
    }
}

static PyObject *sums(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer views[N_ARGUMENTS] = {{0}};
    PyObject *result = NULL;
    if (take_all(args, views, (Expected){"bounds", "lq", 1, 0, 0}, (Expected){"out", "Zd", 2, 1, 0})) {
        const Py_ssize_t n_bags = views[FIRST].shape[0] - 1;
        if (views[FIRST].itemsize != sizeof(int64_t) || n_bags < 0 ||
            !are_bounds(views[FIRST].buf, n_bags, views[VALUES].shape[0]))
            PyErr_SetString(PyExc_ValueError, "bounds must be int64, in increasing order, and within the rows of values");
        else if (has_shape(&views[SECOND], "out", n_bags, views[PROJECTION].shape[1]))
            result = work_on(sum_bags, views);
    }
    release_all(views);
    return result;
}

static void write_features(const Plan *plan, const Py_buffer *views) {
    run(plan, views[VALUES].buf, views[WEIGHTS].buf, views[VALUES].shape[0], views[FIRST].buf);
    move_sums(plan, views[SECOND].buf, 1, plan->n_frequencies);
}

static PyObject *features(PyObject *Py_UNUSED(module), PyObject *args) {
    Py_buffer views[N_ARGUMENTS] = {{0}};
    PyObject *result = NULL;
    if (take_all(args, views, (Expected){"out", "f", 2, 1, 0}, (Expected){"sums", "d", 1, 1, 0})) {
        const Py_ssize_t width = 2 * views[PROJECTION].shape[1];
        if (has_shape(&views[FIRST], "out", views[VALUES].shape[0], width) && has_shape(&views[SECOND], "sums", width, 1))
            result = work_on(write_features, views);
    }
    release_all(views);
    return result;
}

static PyObject *instructions(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args)) {
    return PyUnicode_FromString(whole->title);
}

static PyMethodDef methods[] = {
    {"sums", sums, METH_VARARGS, "sums(values, projection, weights, bounds, out)"},
    {"features", features, METH_VARARGS, "features(values, projection, weights, out, sums)"},
    {"instructions", instructions, METH_NOARGS, "Return the name of the instruction set in use."},
    {NULL, NULL, 0, NULL},
};

static int prepare(PyObject *Py_UNUSED(module)) {
    choose_instructions();
    return 0;
}

static PyModuleDef_Slot slots[] = {{Py_mod_exec, prepare}, {0, NULL}};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT, "_kernel", "Cosine and sine features of rows, and their sums.", 0, methods, slots, NULL, NULL, NULL,
};

PyMODINIT_FUNC PyInit__kernel(void) {
    return PyModuleDef_Init(&definition);
}
