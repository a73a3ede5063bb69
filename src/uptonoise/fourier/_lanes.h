/* The arithmetic of _kernel.c for one instruction set. It is included once for each, and macros say for which:

   NAME(x)    the name of x for this instruction set
   TITLE      its own name, for people
   TARGET     the attribute that turns its instructions on
   N_LANES    how many frequencies are worked on at once

   A strip is the frequencies that are worked on at once. Its projection is packed, N_LANES numbers for each column of the
   rows, and every frequency stays in its own lane from the rows to the sums, so that the number of lanes never changes a
   result.

   w.x in turns is reduced to the nearest whole turn in float64. What is left, f in [-1/2, 1/2], gives s = sin(pi f) and
   c = cos(pi f) by a polynomial each in float32 (off by 8e-9 and 1e-9 before rounding), and then the double angle:

       cos(2 pi f) = c c - s s        sin(2 pi f) = 2 s c
*/

#define floats NAME(floats)
#define doubles NAME(doubles)
#define half NAME(half)

#if N_LANES == 1
#define N_PARTS 1 /* vectors of doubles in a strip */
typedef float floats;
typedef double doubles;
#else
#define N_PARTS 2
/* They lie in numpy's arrays, and so are aligned only as their numbers are. */
typedef float floats __attribute__((vector_size(4 * N_LANES), aligned(4), may_alias));
typedef double doubles __attribute__((vector_size(4 * N_LANES), aligned(8), may_alias));
typedef float half __attribute__((vector_size(2 * N_LANES)));
#endif

#if N_LANES == 4
#define LOW(v) v[0], v[1]
#define HIGH(v) v[2], v[3]
#elif N_LANES == 8
#define LOW(v) v[0], v[1], v[2], v[3]
#define HIGH(v) v[4], v[5], v[6], v[7]
#elif N_LANES == 16
#define LOW(v) v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]
#define HIGH(v) v[8], v[9], v[10], v[11], v[12], v[13], v[14], v[15]
#endif

TARGET INLINE floats NAME(narrow)(const doubles *parts) {
#if N_LANES == 1
    return (float)parts[0];
#else
    half low = __builtin_convertvector(parts[0], half), high = __builtin_convertvector(parts[1], half);
    return (floats){LOW(low), LOW(high)};
#endif
}

/* Add weight times the numbers of a vector of floats to sums in float64. */
TARGET INLINE void NAME(add_wide)(floats v, double weight, doubles *sums) {
#if N_LANES == 1
    sums[0] += weight * (double)v;
#else
    half low = {LOW(v)}, high = {HIGH(v)};
    sums[0] += weight * __builtin_convertvector(low, doubles);
    sums[1] += weight * __builtin_convertvector(high, doubles);
#endif
}

/* Cosine and sine of `n_rows` rows, 1 or 2: with two, each number of the projection is loaded once. */
TARGET INLINE void NAME(cosines_sines)(
    const int n_rows, const double *x, ptrdiff_t d, const double *strip, floats *cosine, floats *sine
) {
    const doubles *p = (const doubles *)strip;
    doubles turns[2][N_PARTS];
    UNROLL for (int row = 0; row < n_rows; row++) {
        UNROLL for (int part = 0; part < N_PARTS; part++)
            turns[row][part] = x[row * d] * p[part];
    }
    for (ptrdiff_t k = 1; k < d; k++) {
        p += N_PARTS;
        UNROLL for (int row = 0; row < n_rows; row++) {
            UNROLL for (int part = 0; part < N_PARTS; part++)
                turns[row][part] += x[row * d + k] * p[part];
        }
    }
    UNROLL for (int row = 0; row < n_rows; row++) {
        UNROLL for (int part = 0; part < N_PARTS; part++)
            turns[row][part] -= (turns[row][part] + ROUNDER) - ROUNDER;
        floats f = NAME(narrow)(turns[row]);
        floats y = f * f;
        floats s = f * (S0 + y * (S1 + y * (S2 + y * (S3 + y * S4))));
        floats c = C0 + y * (C1 + y * (C2 + y * (C3 + y * (C4 + y * C5))));
        sine[row] = (s + s) * c;
        floats squares = c * c;
        cosine[row] = squares - s * s;
    }
}

TARGET INLINE void NAME(store)(floats v, int width, float *out) {
    if (width == N_LANES)
        *(floats *)out = v;
    else
        memcpy(out, &v, (size_t)width * sizeof(float));
}

/* Add the features of `n_rows` rows, 1 or 2, to sums in float32, or with weights, which float32 might not hold, to sums in
   float64; write them where `out` says. */
TARGET INLINE void NAME(add_few)(
    const int n_rows, const double *x, const double *weights, ptrdiff_t d, const double *strip, floats *few, doubles *sums,
    Tile out
) {
    floats cosine[2], sine[2];
    NAME(cosines_sines)(n_rows, x, d, strip, cosine, sine);
    UNROLL for (int row = 0; row < n_rows; row++) {
        if (out.features) {
            NAME(store)(cosine[row], out.width, out.features + row * out.stride);
            NAME(store)(sine[row], out.width, out.features + row * out.stride + out.to_sines);
        }
        if (weights) {
            NAME(add_wide)(cosine[row], weights[row], sums);
            NAME(add_wide)(sine[row], weights[row], sums + N_PARTS);
        }
    }
    if (weights)
        return;
    if (n_rows == 2) {
        cosine[0] += cosine[1];
        sine[0] += sine[1];
    }
    few[0] += cosine[0];
    few[1] += sine[0];
}

/* Add the features of n rows to the sums of a strip, its cosines and then its sines: in float32 over a few rows, whose
   rounding is below that of the features, and in float64 over all. */
TARGET INLINE void NAME(add_rows)(
    const double *x, const double *weights, ptrdiff_t n, ptrdiff_t d, const double *strip, double *total, Tile out
) {
    doubles sums[2 * N_PARTS] = {{0}};
    while (n > 0) {
        const ptrdiff_t n_few = n < ROWS_IN_FLOAT ? n : ROWS_IN_FLOAT;
        floats few[2] = {{0}};
        ptrdiff_t i = 0;
        for (; i + 1 < n_few; i += 2) {
            NAME(add_few)(2, x, weights, d, strip, few, sums, out);
            x += 2 * d;
            weights = weights ? weights + 2 : NULL;
            out.features = out.features ? out.features + 2 * out.stride : NULL;
        }
        if (i < n_few) {
            NAME(add_few)(1, x, weights, d, strip, few, sums, out);
            x += d;
            weights = weights ? weights + 1 : NULL;
            out.features = out.features ? out.features + out.stride : NULL;
        }
        if (!weights) {
            NAME(add_wide)(few[0], 1.0, sums);
            NAME(add_wide)(few[1], 1.0, sums + N_PARTS);
        }
        n -= n_few;
    }
    UNROLL for (int part = 0; part < 2 * N_PARTS; part++)
        ((doubles *)total)[part] += sums[part];
}

/* What is known when it compiles makes it fast: whether there are weights, whether features are written, whole vectors of
   them, and few columns, over which the loop unrolls. */
TARGET static void NAME(strip)(
    const double *x, const double *weights, ptrdiff_t n, ptrdiff_t d, const double *strip, double *sums, Tile out
) {
    const Tile none = {NULL, N_LANES, 0, 0};
    if (out.features) {
        if (weights)
            NAME(add_rows)(x, weights, n, d, strip, sums, out);
        else if (out.width == N_LANES)
            NAME(add_rows)(x, NULL, n, d, strip, sums, (Tile){out.features, N_LANES, out.stride, out.to_sines});
        else
            NAME(add_rows)(x, NULL, n, d, strip, sums, out);
        return;
    }
    if (weights) {
        NAME(add_rows)(x, weights, n, d, strip, sums, none);
        return;
    }
    switch (d) {
    case 1: NAME(add_rows)(x, NULL, n, 1, strip, sums, none); break;
    case 2: NAME(add_rows)(x, NULL, n, 2, strip, sums, none); break;
    case 3: NAME(add_rows)(x, NULL, n, 3, strip, sums, none); break;
    case 4: NAME(add_rows)(x, NULL, n, 4, strip, sums, none); break;
    case 5: NAME(add_rows)(x, NULL, n, 5, strip, sums, none); break;
    case 6: NAME(add_rows)(x, NULL, n, 6, strip, sums, none); break;
    default: NAME(add_rows)(x, NULL, n, d, strip, sums, none);
    }
}

static const Instructions NAME(instructions) = {TITLE, N_LANES, NAME(strip)};

#undef floats
#undef doubles
#undef half
#undef LOW
#undef HIGH
#undef N_PARTS
#undef NAME
#undef TITLE
#undef TARGET
#undef N_LANES
