"""Sums of cos(w.x) and sin(w.x) in fused kernels: nothing of size rows x frequencies is ever written.

How a cosine and its sine are made, and what they lose:

- Frequencies come in turns, w / 2 pi, in float64, and w.x is a product of float64 tiles (on the matrix units where the
  GPU has them for float64, as data centre ones do): as exact as on the CPU, however large the offset or the angle.
- Adding 1.5 * 2^29 leaves the fraction of a turn in the last 23 bits of the float64, rounded to 2^-23 of a turn. They
  become a float32 between -1/2 and 1/2 by two operations on bits; whole turns never meet float32. It costs at most
  2^-24 turns, 3.7e-7.
- Cosine and sine are those of the special-function units, whose error is below 2^-20.5, 6.7e-7, between -pi and pi.
- Each place of a tile adds up at most 32 rows in float32, and what comes of that is added in float64: 1e-6 at most, if
  all roundings go the same way.

The bound of all together is near 2e-6; errors that were measured are below 1e-6, and those of a mean over different
rows are ten times smaller.

Outer products go through the float16 units. A cosine or sine b, less an estimate of its mean, is split into h + l, both
float16: h has 11 bits and l what remains, to 2^-25. As (h + l)'(h + l) is symmetric, h'h + 2 h'l and its transpose have
the same mean as it up to l'l, which is below 2^-24: two products instead of three, and what is multiplied is as good as
float32. The units cut off where float32 rounds, so they add up 1,024 rows at most: a covariance comes out smaller by
some 5e-6 of itself. Its sampling error is 1/sqrt(n), more than that up to 4e10 rows.
"""

import triton
import triton.language as tl

_SHIFT = tl.constexpr(1.5 * 2.0**20 + 2.0**-24)  # the second part makes rounding of what would be cut off
_TURN = tl.constexpr(6.283185307179586)


@triton.jit
def _as_float64(X):
    """Return float32 as float64 times 2^-896, which the frequencies make up for: its bits, moved.

    A conversion would wait for the special-function units.
    """
    if X.dtype == tl.float32:
        bits = X.to(tl.int32, bitcast=True).to(tl.int64) << 29
        return (bits & -0x7000000000000001).to(tl.float64, bitcast=True)
    else:
        return X


@triton.jit
def _turns(x, ok, centre, V, k, D: tl.constexpr, CENTRED: tl.constexpr, FAR: tl.constexpr, MASKED: tl.constexpr):
    """Return w.x / 2 pi of a tile of rows, whose places are `x`, in float64, and shifted for :func:`_cos_sin`."""
    inside = k[None, :] < D
    if MASKED:
        inside = inside & ok[:, None]
    X = _as_float64(tl.load(x[:, None] + k[None, :], mask=inside, other=0))
    if CENTRED:
        X -= tl.load(centre + k, mask=k < D, other=0.0)[None, :]
    turns = tl.dot(X, V, out_dtype=tl.float64)
    if FAR:
        turns -= tl.floor(turns)
    return turns + _SHIFT


@triton.jit
def _cos_sin(shifted):
    """Return minus cos and minus sin: the fraction of a turn is half a turn off."""
    bits = shifted.to(tl.int64, bitcast=True).to(tl.uint32)
    fraction = ((bits >> 9) | 0x3F800000).to(tl.float32, bitcast=True) - 1.5
    angle = fraction * _TURN
    cos = tl.inline_asm_elementwise(
        "cos.approx.ftz.f32 $0, $1;", "=f,f", [angle], dtype=tl.float32, is_pure=True, pack=1
    )
    sin = tl.inline_asm_elementwise(
        "sin.approx.ftz.f32 $0, $1;", "=f,f", [angle], dtype=tl.float32, is_pure=True, pack=1
    )
    return cos, sin


@triton.jit
def _projection_tile(v, k, columns, m, D: tl.constexpr):
    inside = (k[:, None] < D) & (columns[None, :] < m)
    return tl.load(v + k[:, None] * m + columns[None, :], mask=inside, other=0.0)


@triton.jit
def sample_kernel(
    x,
    row_stride,
    weights,
    centre,
    v,
    partial,
    n_rows,
    m,
    rows_each,
    D: tl.constexpr,
    K: tl.constexpr,
    WEIGHTED: tl.constexpr,
    CENTRED: tl.constexpr,
    FAR: tl.constexpr,
    MASKED: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
    STEPS: tl.constexpr,
):
    """Sum the cosines and sines of a part of the rows at some of the frequencies; only the last part needs a mask."""
    n_tiles = tl.cdiv(m, BN)
    columns = tl.program_id(0) % n_tiles * BN + tl.arange(0, BN)
    part = (tl.program_id(0) // n_tiles).to(tl.int64)
    first = part * rows_each
    k = tl.arange(0, K)
    V = _projection_tile(v, k, columns, m, D)
    x += first * row_stride
    weights += first
    here = tl.minimum(n_rows - first, rows_each).to(tl.int32) if MASKED else rows_each
    total_cos = tl.zeros((BN,), tl.float64)
    total_sin = tl.zeros((BN,), tl.float64)
    for start in range(0, here, BM * STEPS):
        sum_cos = tl.zeros((BM, BN), tl.float32)
        sum_sin = tl.zeros((BM, BN), tl.float32)
        for step in range(STEPS):
            rows = start + step * BM + tl.arange(0, BM)
            ok = rows < here
            place = x + rows * row_stride
            cos, sin = _cos_sin(_turns(place, ok, centre, V, k, D, CENTRED, FAR, MASKED))
            if WEIGHTED or MASKED:
                weight = tl.load(weights + rows, mask=ok, other=0.0) if WEIGHTED else ok.to(tl.float32)
                cos *= weight[:, None]
                sin *= weight[:, None]
            sum_cos += cos
            sum_sin += sin
        total_cos += tl.sum(sum_cos, axis=0).to(tl.float64)
        total_sin += tl.sum(sum_sin, axis=0).to(tl.float64)
    partial += part * 2 * m
    tl.store(partial + columns, -total_cos, mask=columns < m)
    tl.store(partial + m + columns, -total_sin, mask=columns < m)


@triton.jit
def bag_kernel(
    x,
    row_stride,
    weights,
    order,
    starts,
    sizes,
    scales,
    v,
    out,
    n_pieces,
    m,
    D: tl.constexpr,
    K: tl.constexpr,
    WEIGHTED: tl.constexpr,
    PHASE: tl.constexpr,
    FAR: tl.constexpr,
    BM: tl.constexpr,
    BN: tl.constexpr,
):
    """Sum cosines and sines of pieces of bags: a tile has the same row number of BM pieces, and no sum crosses it."""
    frequencies = tl.program_id(1) * BN + tl.arange(0, BN)
    number = tl.program_id(0) * BM + tl.arange(0, BM)
    there = number < n_pieces
    piece = tl.load(order + number, mask=there, other=0)
    size = tl.load(sizes + piece, mask=there, other=0).to(tl.int32)
    first = tl.load(starts + piece, mask=there, other=0)
    most = tl.max(size, axis=0)
    k = tl.arange(0, K)
    V = _projection_tile(v, k, frequencies, m, D)
    x += first * row_stride
    weights += first
    sum_cos = tl.zeros((BM, BN), tl.float32)
    sum_sin = tl.zeros((BM, BN), tl.float32)
    for row in range(0, most):
        ok = row < size
        weight = tl.load(weights + row, mask=ok, other=0.0) if WEIGHTED else ok.to(tl.float32)
        cos, sin = _cos_sin(_turns(x + row * row_stride, ok, v, V, k, D, False, FAR, True))
        sum_cos += cos * weight[:, None]
        sum_sin += sin * weight[:, None]
    scale = tl.load(scales + piece, mask=there, other=0.0)
    if PHASE:
        squares = sum_cos * sum_cos + sum_sin * sum_sin
        factor = tl.where(squares > 0, -tl.rsqrt(squares), 0.0) * scale[:, None]
    else:
        factor = tl.broadcast_to(-scale[:, None], (BM, BN))
    both = tl.reshape(tl.join(sum_cos * factor, sum_sin * factor), (BM, 2 * BN))
    places = tl.program_id(1) * 2 * BN + tl.arange(0, 2 * BN)
    out += piece.to(tl.int64) * 2 * m
    tl.store(out[:, None] + places[None, :], both, mask=there[:, None] & (places[None, :] < 2 * m))


@triton.jit
def _pairs_of_features(turns, mean_cos, mean_sin, root):
    """Return cos and sin less their means, side by side, as the sum of two float16: of all bits, and of those left."""
    cos, sin = _cos_sin(turns)
    cos = (cos + mean_cos[None, :]) * root
    sin = (sin + mean_sin[None, :]) * root
    high_cos = cos.to(tl.float16)
    high_sin = sin.to(tl.float16)
    low_cos = (cos - high_cos.to(tl.float32)).to(tl.float16)
    low_sin = (sin - high_sin.to(tl.float32)).to(tl.float16)
    shape: tl.constexpr = (cos.shape[0], 2 * cos.shape[1])
    return tl.reshape(tl.join(high_cos, high_sin), shape), tl.reshape(tl.join(low_cos, low_sin), shape)


@triton.jit
def _frequency_block(v, phases, about, block, k, m, D: tl.constexpr, BN: tl.constexpr):
    """Return the frequencies of a block, their phases, and the estimated means of their cosines and sines."""
    slots = tl.arange(0, BN)
    V = _projection_tile(v, k, tl.where(slots < BN - 1, block * (BN - 1) + slots, m), m, D)
    place = block * BN + slots
    return V, tl.load(phases + place), tl.load(about + 2 * place), tl.load(about + 2 * place + 1)


@triton.jit
def _roots_of(roots, rows, ok, WEIGHTED: tl.constexpr, MASKED: tl.constexpr):
    """Return the square roots of the weights of rows: 1 without weights, 0 behind the last row."""
    root = 1.0
    if WEIGHTED:
        root = tl.load(roots + rows, mask=ok, other=0.0)[:, None]
    elif MASKED:
        root = ok.to(tl.float32)[:, None]
    return root


@triton.jit
def moment_kernel(
    x,
    row_stride,
    roots,
    centre,
    phases,
    v,
    about,
    pairs,
    products,
    n_rows,
    m,
    rows_each,
    n_pairs,
    D: tl.constexpr,
    K: tl.constexpr,
    WEIGHTED: tl.constexpr,
    FAR: tl.constexpr,
    MASKED: tl.constexpr,
    SAME: tl.constexpr,
    BK: tl.constexpr,
    BN: tl.constexpr,
):
    """Sum outer products of two blocks of frequencies (of one with itself where they are the SAME).

    The last place of a block is the frequency 0, whose cosine is 1: products with it are the sums of the others. The
    centre is taken off as a phase of each frequency, and off the rows where float64 would feel it. Of a block with
    itself only the mean of the result and its transpose is meant.
    """
    pair, part = tl.program_id(0) % n_pairs, (tl.program_id(0) // n_pairs).to(tl.int64)
    left, right = tl.load(pairs + 2 * pair), tl.load(pairs + 2 * pair + 1)
    k = tl.arange(0, K)
    V, phase, mean_cos, mean_sin = _frequency_block(v, phases, about, left, k, m, D, BN)
    if not SAME:
        V2, phase2, mean_cos2, mean_sin2 = _frequency_block(v, phases, about, right, k, m, D, BN)
    first = part * rows_each
    x += first * row_stride
    roots += first
    here = tl.minimum(n_rows - first, rows_each).to(tl.int32) if MASKED else rows_each
    total = tl.zeros((2 * BN, 2 * BN), tl.float32)
    for start in range(0, here, BK):
        rows = start + tl.arange(0, BK)
        ok = rows < here
        place = x + rows * row_stride
        root = _roots_of(roots, rows, ok, WEIGHTED, MASKED)
        turns = _turns(place, ok, centre, V, k, D, FAR, FAR, MASKED)
        high, low = _pairs_of_features(turns if FAR else turns + phase[None, :], mean_cos, mean_sin, root)
        if SAME:
            total = tl.dot(tl.trans(high), high, total)
            total = tl.dot(tl.trans(high), low + low, total)
        else:
            turns2 = _turns(place, ok, centre, V2, k, D, FAR, FAR, MASKED)
            high2, low2 = _pairs_of_features(turns2 if FAR else turns2 + phase2[None, :], mean_cos2, mean_sin2, root)
            total = tl.dot(tl.trans(high), high2, total)
            total = tl.dot(tl.trans(high), low2, total)
            total = tl.dot(tl.trans(low), high2, total)
    features = tl.arange(0, 2 * BN)
    products += (part * n_pairs + pair) * (4 * BN * BN)
    tl.store(products + features[:, None] * (2 * BN) + features[None, :], total)
