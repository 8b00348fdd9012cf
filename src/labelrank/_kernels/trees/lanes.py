"""Vector instructions over short rows of lanes, whose number is a multiple of 8.

The compiler turns a loop over an unknown number of lanes into vector instructions only from 32 lanes on; the rows of a
ranking tree have 8 to 64. These functions are loops over blocks of 8 lanes, written down in LLVM's own language. Sums
are float32, or float64 where weights differ so much that float32 would lose the small ones.
"""

from typing import Any

from llvmlite import ir  # type: ignore[import-untyped]
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

_WIDTH = 8
_BYTES = ir.VectorType(ir.IntType(8), _WIDTH)
_FAST = ("contract",)  # one rounding for a product and a sum. Not more: (t - m) + tiny must not become t - (m - tiny)


def _data(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Pointer to the first number of an array, and the array."""
    array = context.make_array(kind)(context, builder, value)
    return array.data, array


def _vector(dtype: Any) -> Any:
    """8 numbers of float32 or float64."""
    return ir.VectorType(ir.FloatType() if dtype == types.float32 else ir.DoubleType(), _WIDTH)


def _zeros(vector: Any) -> Any:
    return ir.Constant(vector, [0.0] * _WIDTH)


def _at(builder: Any, vector: Any, pointer: Any, index: Any) -> Any:
    return builder.bitcast(builder.gep(pointer, [index]), vector.as_pointer())


def _load(builder: Any, vector: Any, pointer: Any, index: Any) -> Any:
    loaded = builder.load(_at(builder, vector, pointer, index))
    loaded.align = 4
    return loaded


def _repeat(builder: Any, kind: Any, value: Any) -> Any:
    """A vector with the same number in all lanes."""
    vector = cgutils.get_null_value(kind)
    for lane in range(_WIDTH):
        vector = builder.insert_element(vector, value, ir.Constant(ir.IntType(32), lane))
    return vector


def _horizontal(builder: Any, vector: Any) -> Any:
    """Sum of the 8 lanes, as a double."""
    size = _WIDTH
    while size > 1:
        size //= 2
        undefined = ir.Constant(vector.type, ir.Undefined)
        index = ir.VectorType(ir.IntType(32), size)
        low = builder.shuffle_vector(vector, undefined, ir.Constant(index, list(range(size))))
        high = builder.shuffle_vector(vector, undefined, ir.Constant(index, list(range(size, 2 * size))))
        vector = builder.fadd(low, high, flags=_FAST)
    only = builder.extract_element(vector, ir.Constant(ir.IntType(32), 0))
    return only if only.type == ir.DoubleType() else builder.fpext(only, ir.DoubleType())


def _two_sums(context: Any, builder: Any, signature: Any, stop: Any, term: Any) -> Any:
    """(sum of the first, sum of the second vector that `term(i)` gives) over i = 0, 8, ... < stop."""
    zero = _zeros(_vector(signature.args[0].dtype))
    places = [cgutils.alloca_once_value(builder, zero) for _ in range(2)]
    for place in places:
        builder.store(zero, place)
    word = stop.type
    with cgutils.for_range_slice(builder, ir.Constant(word, 0), stop, ir.Constant(word, _WIDTH)) as (i, _):
        for place, value in zip(places, term(i), strict=True):
            builder.store(builder.fadd(builder.load(place), value, flags=_FAST), place)
    sums = [_horizontal(builder, builder.load(place)) for place in places]
    return context.make_tuple(builder, signature.return_type, sums)


_PAIR = types.UniTuple(types.float64, 2)


@intrinsic
def add_lanes(typingctx: Any, sums: Any, lanes: Any, row: Any, weight: Any) -> Any:
    """``sums += weight * lanes[row]``; sums : (n_lanes,) float, lanes : (n_rows, n_lanes) float32 or int8."""
    signature = types.void(sums, lanes, types.intp, sums.dtype)
    narrow = lanes.dtype == types.int8
    vector, stored = _vector(sums.dtype), _vector(types.float32)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, _ = _data(context, builder, signature.args[0], args[0])
        source, array = _data(context, builder, signature.args[1], args[1])
        stop = cgutils.unpack_tuple(builder, array.shape, 2)[1]
        source = builder.gep(source, [builder.mul(args[2], stop)])
        weight = _repeat(builder, vector, args[3])
        word = stop.type
        with cgutils.for_range_slice(builder, ir.Constant(word, 0), stop, ir.Constant(word, _WIDTH)) as (i, _):
            if narrow:
                bytes_ = builder.load(builder.bitcast(builder.gep(source, [i]), _BYTES.as_pointer()))
                bytes_.align = 1
                values = builder.sitofp(bytes_, vector)
            else:
                values = _load(builder, stored, source, i)
                values = values if vector == stored else builder.fpext(values, vector)
            product = builder.fmul(values, weight, flags=_FAST)
            more = builder.fadd(_load(builder, vector, target, i), product, flags=_FAST)
            builder.store(more, _at(builder, vector, target, i)).align = 4
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def fetch_lanes(typingctx: Any, lanes: Any, row: Any) -> Any:
    """Ask for ``lanes[row]`` to be brought into the cache; nothing else happens."""
    signature = types.void(lanes, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, array = _data(context, builder, signature.args[0], args[0])
        stop = cgutils.unpack_tuple(builder, array.shape, 2)[1]
        place = builder.gep(source, [builder.mul(args[1], stop)])
        pointer, word = ir.IntType(8).as_pointer(), ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [pointer, word, word, word])
        prefetch = cgutils.get_or_insert_function(builder.module, kind, "llvm.prefetch.p0")
        read, near, data = (ir.Constant(word, value) for value in (0, 3, 1))
        builder.call(prefetch, [builder.bitcast(place, pointer), read, near, data])
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def clear_lanes(typingctx: Any, sums: Any) -> Any:
    """``sums[:] = 0``."""
    signature = types.void(sums)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        target, array = _data(context, builder, signature.args[0], args[0])
        stop = cgutils.unpack_tuple(builder, array.shape, 1)[0]
        word, vector = stop.type, _vector(signature.args[0].dtype)
        with cgutils.for_range_slice(builder, ir.Constant(word, 0), stop, ir.Constant(word, _WIDTH)) as (i, _):
            builder.store(_zeros(vector), _at(builder, vector, target, i)).align = 4
        return context.get_dummy_value()

    return signature, codegen


@intrinsic
def squares(typingctx: Any, left: Any, total: Any, width: Any) -> Any:
    """(sum l^2, sum (t - l)^2) over the first `width` lanes."""
    signature = _PAIR(left, total, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, _ = _data(context, builder, signature.args[0], args[0])
        b, _ = _data(context, builder, signature.args[1], args[1])
        vector = _vector(signature.args[0].dtype)

        def term(i: Any) -> Any:
            s = _load(builder, vector, a, i)
            r = builder.fsub(_load(builder, vector, b, i), s, flags=_FAST)
            return builder.fmul(s, s, flags=_FAST), builder.fmul(r, r, flags=_FAST)

        return _two_sums(context, builder, signature, args[2], term)

    return signature, codegen


@intrinsic
def magnitudes(typingctx: Any, left: Any, total: Any, width: Any) -> Any:
    """(sum |l|, sum |t - l|) over the first `width` lanes."""
    signature = _PAIR(left, total, types.intp)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, _ = _data(context, builder, signature.args[0], args[0])
        b, _ = _data(context, builder, signature.args[1], args[1])
        vector = _vector(signature.args[0].dtype)
        zero = _zeros(vector)

        def magnitude(value: Any) -> Any:
            return builder.select(builder.fcmp_ordered(">", value, zero), value, builder.fsub(zero, value))

        def term(i: Any) -> Any:
            s = _load(builder, vector, a, i)
            return magnitude(s), magnitude(builder.fsub(_load(builder, vector, b, i), s, flags=_FAST))

        return _two_sums(context, builder, signature, args[2], term)

    return signature, codegen


@intrinsic
def square_shares(typingctx: Any, left: Any, total: Any, width: Any, prior: Any) -> Any:
    """(sum l^2/(m + prior), sum r^2/(o + prior)), r = t - l, with m and o `width` lanes further on; prior > 0.

    In exact arithmetic |l| <= m and |r| <= o. Rounding leaves small numbers where nothing is left, and the quotient of
    two such numbers can be anything: a square is cut off at that of its count.
    """
    signature = _PAIR(left, total, types.intp, left.dtype)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        a, _ = _data(context, builder, signature.args[0], args[0])
        b, _ = _data(context, builder, signature.args[1], args[1])
        vector = _vector(signature.args[0].dtype)
        width = args[2]
        prior = _repeat(builder, vector, args[3])

        def term(i: Any) -> Any:
            j = builder.add(i, width)
            s, m = _load(builder, vector, a, i), _load(builder, vector, a, j)
            r = builder.fsub(_load(builder, vector, b, i), s, flags=_FAST)
            o = builder.fsub(_load(builder, vector, b, j), m, flags=_FAST)
            parts = []
            for sign, count in ((s, m), (r, o)):
                square, most = (builder.fmul(value, value, flags=_FAST) for value in (sign, count))
                square = builder.select(builder.fcmp_ordered("<", square, most), square, most)
                parts.append(builder.fdiv(square, builder.fadd(count, prior, flags=_FAST), flags=_FAST))
            return parts

        return _two_sums(context, builder, signature, args[2], term)

    return signature, codegen
