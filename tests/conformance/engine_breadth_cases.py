"""More operators, as engine_cases has them: masks, stacking, counting, rarer activations, distances, recurrent steps, fused attention, out= forms."""
import random

from engine_cases import B, D, F, I
from engine_more_cases import A, K, M, P, S, T, U, V, W, graded

NN = "torch.nn.functional."
# Not equal yet: words of the call -> in what, and why. All else of them is compared, and a row that no longer differs so fails the test.
KNOWN = {
    "i = x.median(": ("values", "stock's own gives what lay there for an expanded one"),
}


def masks():
    yield graded({"w": W, "m": M}, "y = torch.masked_select(w, m).exp()", "s = masked_select w m; y = exp s")
    yield graded({"w": T, "m": ((3,), B, False, "dense")}, "y = torch.masked_select(w, m).exp()", "s = masked_select w m; y = exp s")
    yield {"k": K, "m": M}, "y = k.masked_select(m)", "y = masked_select k m"
    yield {"a": A, "u": U}, "y = torch.masked_select(a, u)", "y = masked_select a u"
    yield {"a": A, "m": ((2, 3), B, False, "zero")}, "y = torch.masked_select(a, m)", "y = masked_select a m"
    yield {"a": A, "m": M, "b": A}, "a.masked_scatter_(m, b)", "a = masked_scatter_ a m b"
    yield graded({"w": W, "m": M, "v": W}, "y = w.masked_scatter(m, v).exp()", "s = masked_scatter w m v; y = exp s")
    yield {"a": A, "m": ((2, 3), B, False, "dense"), "b": ((1,), F, False, "dense")}, "a.masked_scatter_(m, b)", "a = masked_scatter_ a m b"


def stacking():
    yield graded({"w": W}, "y = w.tile(2, 2).exp()", "t = tile w [2,2]; y = exp t")
    yield graded({"w": W}, "y = w.tile(3).exp()", "t = tile w [3]; y = exp t")
    yield graded({"w": W, "v": W}, "y = torch.hstack([w, v])", "y = hstack [w,v]")
    yield graded({"w": V, "v": V}, "y = torch.hstack([w, v])", "y = hstack [w,v]")
    yield graded({"w": W, "v": V}, "y = torch.vstack([w, v])", "y = vstack [w,v]")
    yield graded({"w": V, "v": V}, "y = torch.column_stack([w, v])", "y = column_stack [w,v]")
    yield graded({"w": W}, "y = w.tensor_split(2, 1)[0].exp()", "a,b = tensor_split.sections w 2 1; y = exp a")
    yield graded({"w": W}, "y = w.tensor_split((1,), 1)[1].exp()", "a,b = tensor_split.indices w [1] 1; y = exp b")
    yield graded({"w": W}, "y = w.repeat_interleave(2)", "y = repeat_interleave.self_int w 2")
    yield graded({"w": W}, "y = w.repeat_interleave(2, dim=1).exp()", "r = repeat_interleave.self_int w 2 1; y = exp r")
    yield graded({"w": W}, "y = torch.fliplr(w) * torch.flipud(w)", "a = fliplr w; b = flipud w; y = mul.Tensor a b")
    yield graded({"w": W}, "y = w.moveaxis(0, 1).exp()", "m = moveaxis.int w 0 1; y = exp m")
    yield graded({"w": W}, "y = w.swapdims(0, 1).exp()", "m = swapdims w 0 1; y = exp m")
    yield graded({"w": W, "v": W}, "y = torch.tensordot(w, v, ([1], [1]))", "y = tensordot w v [1] [1]")
    yield graded({"w": W, "v": W}, "y = torch.inner(w, v)", "y = inner w v")
    yield graded({"w": W}, "y = torch.diff(w).exp()", "d = diff w; y = exp d")
    yield {"m": M}, "y = torch.diff(m)", "y = diff m"
    yield {"w": W}, "y = torch.trace(w * 2)\ny.backward()", "n = number 2; p = mul.Tensor w n; y = trace p; backward y"
    yield {"k": K}, "y = torch.trace(k)", "y = trace k"
    yield {"u": U}, "y = torch.trace(u)", "y = trace u"
    yield graded({"v": V}, "y = torch.diag(v).exp()", "d = diag v; y = exp d")
    yield graded({"w": W}, "y = torch.diag(w, 1).exp()", "d = diag w 1; y = exp d")
    yield graded({"w": W}, "y = torch.diag_embed(w, 1).exp()", "d = diag_embed w 1; y = exp d")
    yield {"u": U, "v": U}, "y = torch.cartesian_prod(u, v)", "y = cartesian_prod [u,v]"
    yield {"u": U, "v": U}, "y = torch.concat([u, v])", "y = concat [u,v]"
    yield graded({"v": V}, "y = torch.broadcast_to(v, (2, 3)).exp()", "b = broadcast_to v [2,3]; y = exp b")
    yield {"m": M}, "y = torch.argwhere(m)", "y = argwhere m"
    yield {"u": U, "v": ((2,), F, False, "dense")}, "y = torch._C._nn.pad_sequence([u, v], True, 0.5)", "y = pad_sequence [u,v] True 0.5"
    yield {"u": U, "v": ((2,), F, False, "dense")}, "y = torch._C._nn.pad_sequence([u, v])", "y = pad_sequence [u,v]"
    yield {"a": ((1, 3, 1), F, False, "dense")}, "a.squeeze_()", "a = squeeze_ a"
    yield {"a": A}, "a.t_()", "a = t_ a"
    j = ((2,), I, False, "zero")
    yield graded({"w": W, "j": j}, "y = w.index_fill(1, j, 2.0).exp()", "f = index_fill.int_Scalar w 1 j 2.0; y = exp f")
    yield {"a": A, "j": j}, "a.index_fill_(0, j, 2)", "a = index_fill_.int_Scalar a 0 j 2"
    yield graded({"w": W, "j": ((1,), I, False, "zero"), "v": ((1, 3), F, True, "dense")}, "y = w.index_copy(0, j, v).exp()", "f = index_copy w 0 j v; y = exp f")
    yield {"a": A, "j": j, "b": A}, "a.index_copy_(0, j, b)", "a = index_copy_ a 0 j b"
    yield {"a": A, "j": ((1,), I, False, "zero"), "b": A}, "a.index_copy_(0, j, b)", "a = index_copy_ a 0 j b"


def counting():
    k = ((5,), I, False, "dense")
    yield {"k": k}, "y = torch.bincount(k.abs())", "a = abs k; y = bincount a"
    yield {"k": k, "u": ((5,), F, False, "dense")}, "y = torch.bincount(k.abs(), u, 30)", "a = abs k; y = bincount a u 30"
    yield {"k": k}, "y = torch.bincount(k)", "y = bincount k"
    yield {"u": U}, "y = torch.bincount(u)", "y = bincount u"
    yield {"k": K}, "y = torch.count_nonzero(k, dim=1)", "y = count_nonzero k 1"
    yield graded({"w": W}, "y = w.median()", "y = median w")
    yield graded({"w": T}, "y, i = w.median(1)", "y,i = median.dim w 1")
    yield graded({"w": P}, "y, i = w.median(1, True)", "y,i = median.dim w 1 True")
    yield {"k": K}, "y, i, c = torch._unique2(k, True, True, True)", "y,i,c = _unique2 k True True True"
    yield {"a": A}, "y, i, c = torch._unique2(a)", "y,i,c = _unique2 a"
    yield {"a": A}, "y, m = torch.std_mean(a, dim=1)", "y,m = std_mean.dim a [1] True False"
    yield {"w": W}, "s, m = torch.std_mean(w, dim=0)\nq = (s * m).sum()\nq.backward()", "s,m = std_mean.dim w [0] True False; p = mul.Tensor s m; q = sum p; backward q"


def functions():
    for name in ("exp2", "erfc"):
        yield graded({"w": S}, "y = torch.%s(w)" % name, "y = %s w" % name)
        yield {"k": K}, "y = torch.%s(k)" % name, "y = %s k" % name
    yield graded({"w": W}, "y = torch.nan_to_num(w / 0)", "n = number 0; d = div.Tensor w n; y = nan_to_num d")
    yield {"k": K}, "y = torch.nan_to_num(k)", "y = nan_to_num k"
    for name in ("hardswish", "hardsigmoid", "mish"):
        yield graded({"w": W}, "y = %s%s(w)" % (NN, name), "y = %s w" % name)
        yield graded({"w": T}, "y = %s%s(w) * w" % (NN, name), "x = %s w; y = mul.Tensor x w" % name)
        yield {"k": K}, "y = %s%s(k)" % (NN, name), "y = %s k" % name
    yield graded({"w": W}, "y = %ssoftshrink(w, 0.25)" % NN, "y = softshrink w 0.25")
    yield graded({"w": W}, "y = %shardshrink(w)" % NN, "y = hardshrink w")
    yield graded({"w": W}, "y = torch.selu(w)", "y = selu w")
    yield graded({"w": W}, "y = torch.celu(w, 0.5)", "y = celu w 0.5")
    yield graded({"w": W}, "y = torch.threshold(w, 0.5, 2.0)", "y = threshold w 0.5 2.0")
    yield {"k": K}, "y = torch.threshold(k, 1, 2)", "y = threshold k 1 2"
    yield graded({"w": W, "v": V}, "y = torch.prelu(w, v)", "y = prelu w v")
    yield graded({"w": P, "v": ((1,), F, True, "dense")}, "y = torch.prelu(w, v)", "y = prelu w v")
    yield {"a": A, "v": ((2,), F, False, "dense")}, "y = torch.prelu(a, v)", "y = prelu a v"
    yield graded({"w": ((2, 4), F, True, "dense")}, "y = %sglu(w)" % NN, "y = glu w")
    yield {"a": A}, "y = %sglu(a)" % NN, "y = glu a"
    yield {"a": A, "b": A}, "y = torch.multiply(a, b); z = torch.subtract(a, b, alpha=2); p = torch.divide(a, b); q = torch.true_divide(a, b)", \
        "y = multiply.Tensor a b; z = subtract.Tensor a b 2; p = divide.Tensor a b; q = true_divide.Tensor a b"
    yield {"a": A, "b": A}, "y = torch.absolute(a); z = torch.clip(a, 0, 1); p = torch.negative(a); q = torch.greater(a, b); r = torch.less(a, 0)", \
        "y = absolute a; z = clip a 0 1; p = negative a; q = greater.Tensor a b; r = less.Scalar a 0"
    yield {"a": A, "b": A}, "y = torch.not_equal(a, b); z = torch.greater_equal(a, 0); p = torch.less_equal(a, b)", \
        "y = not_equal.Tensor a b; z = greater_equal.Scalar a 0; p = less_equal.Tensor a b"


def written():
    for name in ("add", "sub"):
        yield {"a": A, "b": U, "o": A}, "torch.%s(a, b, alpha=2, out=o)" % name, "o = %s.out a b 2 o" % name
    for name in ("mul", "div", "maximum"):
        yield {"a": A, "b": U, "o": A}, "torch.%s(a, b, out=o)" % name, "o = %s.out a b o" % name
    yield {"a": A, "o": A}, "torch.exp(a, out=o)", "o = exp.out a o"
    yield {"a": A, "o": A}, "torch.cumsum(a, 1, out=o)", "o = cumsum.out a 1 None o"
    yield {"w": W, "o": A}, "torch.exp(w, out=o)", "o = exp.out w o"


def layers():
    line = ((2, 4, 8), F, True, "small")
    yield graded({"x": line}, "y = %smax_pool1d(x, 2).exp()" % NN, "l = max_pool1d x [2] [2] [0] [1] False; y = exp l")
    yield {"x": ((2, 4, 8), F, False, "small")}, "y = %smax_pool1d(x, 3, 2, 1)" % NN, "y = max_pool1d x [3] [2] [1] [1] False"
    yield graded({"x": line}, "y = %savg_pool1d(x, 2, padding=1).exp()" % NN, "l = avg_pool1d x [2] [2] [1] False True; y = exp l")
    yield graded({"x": line}, "y = %sadaptive_avg_pool1d(x, 3).exp()" % NN, "l = adaptive_avg_pool1d x [3]; y = exp l")
    c = ((4,), F, True, "dense")
    yield graded({"x": line, "g": c, "b": c}, "y = %sinstance_norm(x, weight=g, bias=b) * x" % NN, "l = instance_norm x g b None None True 0.1 0.00001 False; y = mul.Tensor l x")
    yield {"w": P}, "torch.manual_seed(5); y = torch.feature_dropout(w, 0.5, True)", "seed 5; y = feature_dropout w 0.5 True"
    yield {"w": P}, "torch.manual_seed(5); y = torch.alpha_dropout(w, 0.5, True)", "seed 5; y = alpha_dropout w 0.5 True"
    w, u, t = ((4, 3), F, True, "dense"), ((4, 3), F, False, "dense"), ((4,), F, False, "dense")
    yield {"w": w, "u": u}, "y = %spairwise_distance(w, u)\nq = y.sum()\nq.backward()" % NN, "y = pairwise_distance w u; q = sum y; backward q"
    yield graded({"w": w, "u": w}, "y = %scosine_similarity(w, u)" % NN, "y = cosine_similarity w u")
    yield {"w": w, "u": u, "v": w}, "y = %striplet_margin_loss(w, u, v)\ny.backward()" % NN, "y = triplet_margin_loss w u v; backward y"
    yield {"w": w, "u": u, "t": t}, "s = t.sign()\ny = %scosine_embedding_loss(w, u, s)\ny.backward()" % NN, "s = sign t; y = cosine_embedding_loss w u s; backward y"
    yield {"w": w, "u": u}, "s = u.sign()\ny = %shinge_embedding_loss(w, s)\ny.backward()" % NN, "s = sign u; y = hinge_embedding_loss w s; backward y"
    yield {"w": w, "u": u, "v": w}, "s = u.sign()\ny = %smargin_ranking_loss(w, v, s, 0.5)\ny.backward()" % NN, "s = sign u; y = margin_ranking_loss w v s 0.5; backward y"
    yield {"w": w, "u": u}, "y = %spoisson_nll_loss(w, u)\ny.backward()" % NN, "y = poisson_nll_loss w u True False 0.00000001 1; backward y"
    for log in (True, False):
        yield ({"w": w, "u": u}, "y = %spoisson_nll_loss(w.abs(), u.abs() * 3, log_input=%s, full=True)\ny.backward()" % (NN, log),
               "a = abs w; b = abs u; n = number 3; c = mul.Tensor b n; y = poisson_nll_loss a c %s True 0.00000001 1; backward y" % log)
    yield {"a": A}, "y = torch.linalg.norm(a)", "y = linalg_norm a"
    q, k = ((2, 2, 4, 3), F, True, "small"), ((2, 2, 5, 3), F, True, "small")
    for causal in (False, True):
        yield graded({"q": q, "k": k, "v": k}, "y = %sscaled_dot_product_attention(q, k, v, is_causal=%s) * 2" % (NN, causal),
                     "l = scaled_dot_product_attention q k v None 0.0 %s; n = number 2; y = mul.Tensor l n" % causal)
    yield graded({"q": q, "k": k, "v": k, "m": ((4, 5), F, False, "dense")}, "y = %sscaled_dot_product_attention(q, k, v, m) * q" % NN,
                 "l = scaled_dot_product_attention q k v m; y = mul.Tensor l q")
    shared = ((2, 2, 5, 4), F, True, "small")  # heads of queries share those of keys and values
    for causal in (False, True):
        yield graded({"q": ((2, 4, 5, 4), F, True, "small"), "k": shared, "v": shared}, "y = %sscaled_dot_product_attention(q, k, v, is_causal=%s, enable_gqa=True) * 2" % (NN, causal),
                     "l = scaled_dot_product_attention q k v None 0.0 %s None True; n = number 2; y = mul.Tensor l n" % causal)
    yield graded({"q": ((4, 5, 4), F, True, "small"), "k": ((2, 5, 4), F, True, "small"), "v": ((2, 5, 4), F, True, "small")},
                 "y = %sscaled_dot_product_attention(q, k, v, enable_gqa=True, scale=-0.5).exp()" % NN, "l = scaled_dot_product_attention q k v None 0.0 False -0.5 True; y = exp l")
    yield {"q": ((2, 3, 5, 4), F, False, "dense"), "k": shared}, "y = %sscaled_dot_product_attention(q, k, k, enable_gqa=True)" % NN, "y = scaled_dot_product_attention q k k None 0.0 False None True"
    yield graded({"q": ((1, 2, 4, 3), D, True, "small")}, "y = %sscaled_dot_product_attention(q, q, q).exp()" % NN, "l = scaled_dot_product_attention q q q; y = exp l")
    x, h = ((2, 3), F, True, "small"), ((2, 2), F, True, "small")

    def weights(gates):
        return {"a": ((gates * 2, 3), F, True, "small"), "b": ((gates * 2, 2), F, True, "small"), "c": ((gates * 2,), F, True, "small"), "d": ((gates * 2,), F, True, "small")}
    for name, gates in (("gru_cell", 3), ("rnn_tanh_cell", 1), ("rnn_relu_cell", 1)):
        yield graded({"x": x, "h": h, **weights(gates)}, "y = torch.%s(x, h, a, b, c, d)" % name, "y = %s x h a b c d" % name)
    yield graded({"x": x, "h": h, "g": h, **weights(4)}, "y, z = torch.lstm_cell(x, (h, g), a, b, c, d)", "y,z = lstm_cell x [h,g] a b c d")
    yield graded({"x": x, "h": h, "a": ((6, 3), F, True, "small"), "b": ((6, 2), F, True, "small")}, "y = torch.gru_cell(x, h, a, b)", "y = gru_cell x h a b")
    run, first = ((3, 2, 3), F, True, "small"), ((1, 2, 2), F, True, "small")
    for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        yield graded({"x": run, "h": first, **weights(gates)}, "y, z = torch.%s(x, h, [a, b, c, d], True, 1, 0.0, True, False, False)" % name,
                     "y,z = %s.input x h [a,b,c,d] True 1 0.0 True False False" % name)
    yield graded({"x": run, "h": first, "g": first, **weights(4)}, "y, z, s = torch.lstm(x, (h, g), [a, b, c, d], True, 1, 0.0, True, False, False)",
                 "y,z,s = lstm.input x [h,g] [a,b,c,d] True 1 0.0 True False False")
    yield {"x": ((3, 2), F, False, "small")}, "y = torch._is_all_true(x > 0)", "t = gt.Scalar x 0; y = _is_all_true t"
    for shape, dim in (((4, 3), 0), ((4, 3), 1), ((4, 3, 2), 0), ((4, 3, 2), 1)):
        lengths = tuple(n if d == dim else 1 for d, n in enumerate(shape))
        yield graded({"x": (shape, F, True, "small"), "g": (lengths, F, True, "small")}, "y = torch._weight_norm(x, g, %d).exp()" % dim, "w = _weight_norm x g %d; y = exp w" % dim)
        yield graded({"x": (shape, F, True, "small")}, "y = torch.norm_except_dim(x, 2, %d)" % dim, "y = norm_except_dim x 2 %d" % dim)
    packed, first, two = ((6, 3), F, True, "small"), ((1, 3, 2), F, True, "small"), ((2, 3, 2), F, True, "small")
    sizes, ours = "s = torch.arange(3, 0, -1)\n", "push factory; s = arange.start_step 3 0 -1; pop; "
    for name, gates in (("gru", 3), ("rnn_tanh", 1), ("rnn_relu", 1)):
        yield graded({"x": packed, "h": first, **weights(gates)}, sizes + "y, z = torch.%s(x, s, h, [a, b, c, d], True, 1, 0.0, True, False)" % name,
                     ours + "y,z = %s.data x s h [a,b,c,d] True 1 0.0 True False" % name)
    yield graded({"x": packed, "h": two, "g": two, **weights(4)}, sizes + "y, z, e = torch.lstm(x, s, (h, g), [a, b, c, d, a, b, c, d], True, 1, 0.0, True, True)",
                 ours + "y,z,e = lstm.data x s [h,g] [a,b,c,d,a,b,c,d] True 1 0.0 True True")
    for turned in (False, True):
        yield graded({"x": ((3, 3, 2), F, True, "small")}, sizes + "y, z = torch._pack_padded_sequence(x, s, %s)" % turned, ours + "y,z = _pack_padded_sequence x s %s" % turned)
        yield graded({"x": packed}, sizes + "y, z = torch._pad_packed_sequence(x, s, %s, 0.5, 4)" % turned, ours + "y,z = _pad_packed_sequence x s %s 0.5 4" % turned)
    yield {"x": ((3, 3, 2), F, False, "small")}, "s = torch.arange(3)\ny, z = torch._pack_padded_sequence(x, s, False)", "push factory; s = arange 3; pop; y,z = _pack_padded_sequence x s False"


def random_numbers():
    yield {"a": A}, "torch.manual_seed(5); y = torch.bernoulli(a.sigmoid())", "seed 5; s = sigmoid a; y = bernoulli s"
    yield {"a": A}, "torch.manual_seed(5); y = torch.bernoulli(a, 0.25)", "seed 5; y = bernoulli.p a 0.25"
    yield {"a": A}, "torch.manual_seed(5); y = torch.bernoulli(a * 9)", "seed 5; n = number 9; s = mul.Tensor a n; y = bernoulli s"
    yield {"a": A}, "torch.manual_seed(5); a.exponential_(2)", "seed 5; a = exponential_ a 2.0"
    yield {"k": K, "a": A, "m": M}, "torch.manual_seed(5); k.random_(); a.random_(); m.random_()", "seed 5; k = random_ k; a = random_ a; m = random_ m"
    yield {"u": U}, "torch.manual_seed(5); y = torch.multinomial(u.abs() + 1, 2)", "seed 5; a = abs u; n = number 1; s = add.Tensor a n; y = multinomial s 2"
    yield {"a": A}, "torch.manual_seed(5); y = torch.multinomial(a.abs() + 1, 4, True)", "seed 5; b = abs a; n = number 1; s = add.Tensor b n; y = multinomial s 4 True"
    yield {"u": U}, "y = torch.multinomial(u, 9)", "y = multinomial u 9"
    yield {"a": A, "b": A}, "torch.manual_seed(5); y = torch.normal(a, b.abs())", "seed 5; s = abs b; y = normal.Tensor_Tensor a s"
    yield {"a": A}, "torch.manual_seed(5); y = torch.normal(a, 2.0)", "seed 5; y = normal.Tensor_float a 2.0"


def cases():
    for part in (masks, stacking, counting, functions, written, layers, random_numbers):
        yield from part()


UNARY = ["exp2", "erfc", "nan_to_num", "absolute", "negative", "selu"]


def drawn(seed, count):
    """Random inputs: strided, broadcast, empty, of other types, wrong ones."""
    rng = random.Random(seed)
    for _ in range(count):
        shape = tuple(rng.choice([0, 1, 2, 3, 4]) for _ in range(rng.randint(0, 3)))
        other = tuple(s if rng.random() < 0.7 else 1 if rng.random() < 0.8 else 7 for s in shape)[rng.randint(0, min(1, len(shape))):]
        dtype, d = rng.choice([F, F, F, D, I]), rng.randint(-2, 2)
        x = shape, dtype, dtype in (F, D) and rng.random() < 0.5, rng.choice(["dense", "dense", "t", "s", "e"])
        m = other, B, False, rng.choice(["dense", "t", "e"])
        name = rng.choice(UNARY)
        made = rng.choice([({"x": x}, "z = torch.%s(x)" % name, "z = %s x" % name), ({"x": x, "m": m}, "z = torch.masked_select(x, m)", "z = masked_select x m"),
                           ({"x": x}, "z = x.tile(2)", "z = tile x [2]"), ({"x": x}, "z = x.repeat_interleave(2, %d)" % d, "z = repeat_interleave.self_int x 2 %d" % d),
                           ({"x": x}, "z = torch.hstack([x, x])", "z = hstack [x,x]"), ({"x": x}, "z = torch.vstack([x, x])", "z = vstack [x,x]"),
                           ({"x": x}, "z = torch.diag(x)", "z = diag x"), ({"x": x}, "z = torch.diff(x, 1, %d)" % d, "z = diff x 1 %d" % d),
                           ({"x": x}, "z, i = x.median(%d)" % d, "z,i = median.dim x %d" % d), ({"x": x}, "z = x.trace()", "z = trace x")])
        inputs, python, ours = made
        if x[2]:
            yield inputs, python + "\nq = z.sum()\nq.backward()", ours + "; q = sum z; backward q"
        else:
            yield made
