"""Gradients of gradients, and operators that programs use more rarely, as engine_cases has them."""
from engine_cases import D, F, I
from engine_more_cases import A, K, P, S, T, U, V, W, graded

NN, CNN = "torch.nn.functional.", "torch._C._nn."
# Not equal yet, as engine_breadth_cases has it.
ZEROS, COPIES = "stock makes zeros by their shape", "stock works on a contiguous copy"
KNOWN = {
    "prelu(w, v)": ("hops values", ZEROS), "avg_pool3d(x, 2)\ns =": ("hops values", ZEROS), "max_pool3d_with_indices(x, 2)\ns =": ("hops values", ZEROS),
    "adaptive_avg_pool3d(x, 2)\ns =": ("hops values", ZEROS), "adaptive_max_pool3d(x, 2)\ns =": ("hops values", ZEROS),
    "special.i0e(w)\ns =": ("hops", "a zero tensor is made of real zeros"), "special.i1e(w)\ns =": ("hops values", "a zero tensor is made of real zeros"),
    "batch_norm(x, None, None, None, None, True)": ("hops", "rows without weights are multiplied by ones in stock"),
    "bilinear(": ("hops", "a product that is reshaped has other strides"), "rrelu_(w * 1, 0.1, 0.3, True)": ("hops values", COPIES),
}


def twice(inputs, python, ours, of):
    """The square of the result y's sum, the gradients of that, and the gradients of theirs (of all, and of each alone)."""
    grads = ["g%d" % i for i in range(len(of))]
    head = "%s\ns = (y * y).sum()\n(%s,) = torch.autograd.grad(s, [%s], create_graph=True)\n" % (python, ", ".join(grads), ", ".join(of))
    first = "%s; s2 = mul.Tensor y y; s = sum s2; %s = grad_of s %s" % (ours, ",".join(grads), ",".join(of))
    for wanted in [grads] + ([[g] for g in grads] if len(grads) > 1 else []):
        steps, total = [], None
        for g in wanted:  # in the order in which Python computes
            steps.append("q{0} = mul.Tensor {0} {0}; r{0} = sum q{0}".format(g))
            if total:
                steps.append("t%s = add.Tensor %s r%s" % (g, total, g))
            total = ("t" if total else "r") + g
        python_sum = " + ".join("(%s * %s).sum()" % (g, g) for g in wanted)
        yield inputs, head + "q = %s\nq.backward()" % python_sum, "%s; %s; backward %s" % (first, "; ".join(steps), total)


def activations():
    for python, ours in (("mish(w)", "mish w"), ("gelu(w)", "gelu w"), ("softplus(w, 2.0, 3.0)", "softplus w 2.0 3.0"), ("elu(w, 0.5)", "elu w 0.5"), ("hardtanh(w)", "hardtanh w"),
                         ("leaky_relu(w)", "leaky_relu w"), ("logsigmoid(w)", "log_sigmoid w"), ("hardswish(w)", "hardswish w"), ("softshrink(w)", "softshrink w")):
        yield from twice({"w": W}, "y = %s%s" % (NN, python), "y = " + ours, ["w"])
    yield from twice({"w": ((2, 3), D, True, "dense")}, "y = %sgelu(w, approximate='tanh')" % NN, "y = gelu w str:tanh", ["w"])
    yield from twice({"w": ((2, 4), F, True, "dense")}, "y = %sglu(w)" % NN, "y = glu w", ["w"])
    yield from twice({"w": ((4, 3), F, True, "t")}, "y = %sglu(w, 0)" % NN, "y = glu w 0", ["w"])
    yield from twice({"w": W, "v": V}, "y = torch.prelu(w, v)", "y = prelu w v", ["w", "v"])
    for eps, ours in (("", ""), (", 0.1", " 0.1")):
        yield from twice({"w": S}, "y = torch.logit(w.sigmoid()%s)" % eps, "z = sigmoid w; y = logit z%s" % ours, ["w"])
    for name in ("i0", "special_i1", "special_i0e", "special_i1e"):
        called = "torch.special." + name.removeprefix("special_") if name != "i0" else "torch.i0"
        yield from twice({"w": W}, "y = %s(w)" % called, "y = %s w" % name, ["w"])


def normalisations():
    c = ((4,), D, True, "dense")
    for shape in ((2, 4, 3), (2, 4, 3, 2), (3, 4)):
        x = shape, D, True, "dense"
        yield from twice({"x": x, "w": c, "b": c}, "y = %sbatch_norm(x, None, None, w, b, True)" % NN, "y = batch_norm x w b None None True 0.1 0.00001 False", ["x", "w", "b"])
        yield from twice({"x": x}, "y = %sbatch_norm(x, None, None, None, None, True)" % NN, "y = batch_norm x None None None None True 0.1 0.00001 False", ["x"])
    x, plain = ((2, 4, 3), D, True, "dense"), ((4,), D, False, "dense")
    yield from twice({"x": x, "w": c, "b": c, "m": plain, "v": plain}, "y = %sbatch_norm(x, m, v.abs(), w, b, False)" % NN, "a = abs v; y = batch_norm x w b m a False 0.1 0.00001 False",
                     ["x", "w", "b"])
    yield from twice({"x": x, "m": plain, "v": plain}, "y = %sbatch_norm(x, m, v.abs(), None, None, False)" % NN, "a = abs v; y = batch_norm x None None m a False 0.1 0.00001 False", ["x"])
    last = ((3,), D, True, "dense")
    yield from twice({"x": x, "w": last, "b": last}, "y = %slayer_norm(x, (3,), w, b)" % NN, "y = layer_norm x [3] w b", ["x", "w", "b"])
    yield from twice({"x": x}, "y = %slayer_norm(x, (4, 3))" % NN, "y = layer_norm x [4,3]", ["x"])
    for inputs, of in (({"x": x, "w": c, "b": c}, ["x", "w", "b"]), ({"x": x}, ["x"])):
        yield from twice(inputs, "y = %sgroup_norm(x, 2%s)" % (NN, ", w, b" if len(of) > 1 else ""), "y = group_norm x 2%s" % (" w b" if len(of) > 1 else ""), of)


def pooling():
    x = ((1, 2, 4, 4, 4), F, True, "small")
    yield from twice({"x": x}, "y = %savg_pool3d(x, 2)" % NN, "y = avg_pool3d x [2]", ["x"])
    yield from twice({"x": x}, "y, i = %smax_pool3d_with_indices(x, 2)" % CNN, "y,i = max_pool3d_with_indices x [2]", ["x"])
    yield from twice({"x": x}, "y = %sadaptive_avg_pool3d(x, 2)" % NN, "y = adaptive_avg_pool3d x [2,2,2]", ["x"])
    yield from twice({"x": x}, "y, i = %sadaptive_max_pool3d(x, 2)" % CNN, "y,i = adaptive_max_pool3d x [2,2,2]", ["x"])
    for reduction, number in (("none", 0), ("mean", 1), ("sum", 2)):
        yield from twice({"w": W, "u": A}, "y = %ssoft_margin_loss(w, u.sign(), reduction='%s')" % (NN, reduction), "g = sign u; y = soft_margin_loss w g %d" % number, ["w"])
    yield from twice({"w": ((3, 2), F, True, "dense")}, "y = %spdist(w)" % NN, "y = pdist w", ["w"])
    yield from twice({"x": ((1, 2, 3), F, True, "small")}, "y = %s_upsample_nearest_exact1d(x, [6], 2.0)" % CNN, "y = _upsample_nearest_exact1d x [6] 2.0", ["x"])


def special():
    for name in ("i0e", "i1e", "erfcx", "bessel_j0", "bessel_j1", "modified_bessel_i0", "modified_bessel_i1", "spherical_bessel_j0", "airy_ai"):
        for input in (W, T):
            yield {"w": input}, "y = torch.special.%s(w)" % name, "y = special_%s w" % name
        yield {"k": K}, "y = torch.special.%s(k)" % name, "y = special_%s k" % name
    for name in ("i0e", "i1e", "erfcx"):
        yield graded({"w": P}, "y = torch.special.%s(w)" % name, "y = special_%s w" % name)
    for name in ("bessel_y0", "bessel_y1", "modified_bessel_k0", "modified_bessel_k1", "scaled_modified_bessel_k0", "scaled_modified_bessel_k1"):
        yield {"a": A}, "y = torch.special.%s(a.abs())" % name, "b = abs a; y = special_%s b" % name
    yield graded({"w": S}, "y = torch.special.ndtri(w.sigmoid())", "z = sigmoid w; y = special_ndtri z")
    yield graded({"w": W, "a": A}, "y = torch.special.zeta(a.abs() + 1.5, w.abs() + 0.5)",
                 "b = abs a; n = number 1.5; c = add.Tensor b n; d = abs w; m = number 0.5; e = add.Tensor d m; y = special_zeta c e")
    yield graded({"w": W}, "y = torch.special.zeta(2.5, w.abs() + 0.5)", "d = abs w; m = number 0.5; e = add.Tensor d m; y = special_zeta.self_scalar 2.5 e")
    yield {"w": W}, "y = torch.special.zeta(w.abs() + 1.5, 2.0)\nq = y.sum()\nq.backward()", "b = abs w; n = number 1.5; c = add.Tensor b n; y = special_zeta.other_scalar c 2.0; q = sum y; backward q"
    for name in ("igamma", "igammac"):
        yield graded({"a": A, "w": W}, "y = torch.%s(a.abs(), w.abs())" % name, "b = abs a; c = abs w; y = %s b c" % name)
        yield graded({"w": W, "a": A}, "y = torch.%s(w.abs(), a.abs())" % name, "c = abs w; b = abs a; y = %s c b" % name)
        yield {"k": K}, "y = torch.%s(k, k)" % name, "y = %s k k" % name
        yield {"a": ((2, 3), D, False, "dense"), "b": ((3,), D, False, "dense")}, "y = torch.%s(a, b)" % name, "y = %s a b" % name
    yield graded({"w": W}, "y = torch.mvlgamma(w.abs() + 2, 3)", "b = abs w; n = number 2; c = add.Tensor b n; y = mvlgamma c 3")
    yield {"a": A}, "y = torch.mvlgamma(a, 0)", "y = mvlgamma a 0"
    yield {"a": A}, "b = a.abs() + 1; b.mvlgamma_(2)", "c = abs a; n = number 1; b = add.Tensor c n; b = mvlgamma_ b 2"
    yield graded({"w": W}, "y = (w.abs() + 1).polygamma_(1)", "c = abs w; n = number 1; b = add.Tensor c n; y = polygamma_ b 1")


def parts_of_numbers():
    for other in (K, ((3,), I, False, "dense")):
        yield graded({"w": W, "k": other}, "y = torch.ldexp(w, k)", "y = ldexp.Tensor w k")
    yield graded({"w": T, "v": V}, "y = torch.ldexp(w, v)", "y = ldexp.Tensor w v")
    yield {"k": K}, "y = torch.ldexp(k, k)", "y = ldexp.Tensor k k"
    yield {"a": A, "k": K}, "a.ldexp_(k)", "a = ldexp_ a k"
    yield {"a": A, "b": A}, "a.ldexp_(b)", "a = ldexp_ a b"
    yield graded({"w": W}, "y, e = torch.frexp(w)", "y,e = frexp.Tensor w")
    yield {"a": ((2, 3), D, False, "t")}, "y, e = torch.frexp(a)", "y,e = frexp.Tensor a"
    yield {"k": K}, "y, e = torch.frexp(k)", "y,e = frexp.Tensor k"


def layers():
    one, two = ((3, 2), F, True, "dense"), ((3, 4), F, True, "dense")
    yield graded({"x": one, "z": two, "w": ((5, 2, 4), F, True, "dense"), "b": ((5,), F, True, "dense")}, "y = %sbilinear(x, z, w, b).exp()" % NN, "r = bilinear x z w b; y = exp r")
    yield graded({"x": ((2, 3, 2), F, True, "small"), "z": ((2, 3, 2), F, True, "small"), "w": ((1, 2, 2), F, True, "small")}, "y = %sbilinear(x, z, w)" % NN, "y = bilinear x z w")
    for x, z, w in (((3, 2), (3, 4), (5, 3, 4)), ((3, 2), (2, 4), (5, 2, 4)), ((3, 2), (4,), (5, 2, 4)), ((3, 2), (3, 5), (5, 2, 4))):
        yield {"x": (x, F, False, "dense"), "z": (z, F, False, "dense"), "w": (w, F, False, "dense")}, "y = %sbilinear(x, z, w)" % NN, "y = bilinear x z w"
    for training in (False, True):
        yield graded({"w": W}, "torch.manual_seed(5); y = torch.rrelu(w, 0.1, 0.3, %s).exp()" % training, "seed 5; r = rrelu w 0.1 0.3 %s; y = exp r" % training)
        yield graded({"w": T}, "torch.manual_seed(5); y = torch.rrelu_(w * 1, 0.1, 0.3, %s).exp()" % training,
                     "seed 5; n = number 1; p = mul.Tensor w n; r = rrelu_ p 0.1 0.3 %s; y = exp r" % training)
    yield {"a": A}, "y = torch.rrelu(a, 0.5, 0.2)", "y = rrelu a 0.5 0.2"
    yield {"k": K}, "y = torch.rrelu(k, training=True)", "y = rrelu k 0.125 0.3333333333333333 True"
    yield {"a": ((4, 3), F, False, "dense")}, "i = torch.arange(3)\ntorch.embedding_renorm_(a, i, 0.5, 2.0)", "push factory; i = arange 3; pop; a = embedding_renorm_ a i 0.5 2.0"
    yield {"a": A}, "torch.embedding_renorm_(a, a, 0.5, 2.0)", "a = embedding_renorm_ a a 0.5 2.0"
    for python, ours in (("5", "kaiser_window 5"), ("1", "kaiser_window 1"), ("0", "kaiser_window 0"), ("4, False", "kaiser_window.periodic 4 False"), ("4, False, 3.0", "kaiser_window.beta 4 False 3.0"), ("-1", "kaiser_window -1")):
        yield {}, "y = torch.kaiser_window(%s)" % python, "push factory; y = %s; pop" % ours
    yield {"u": U, "p": ((3,), F, False, "small")}, "torch.manual_seed(5); y = torch.binomial(u.abs() * 9, p.sigmoid())", "seed 5; c = abs u; n = number 9; d = mul.Tensor c n; s = sigmoid p; y = binomial d s"
    yield {"k": K}, "y = torch.binomial(k, k)", "y = binomial k k"


def places():
    j = ((2,), I, False, "zero")
    for how in ("prod", "mean", "amax", "amin"):
        for alone in (True, False):
            yield graded({"w": ((3, 2), F, True, "dense"), "j": j, "v": ((2, 2), F, True, "dense")}, "y = w.index_reduce(0, j, v, '%s', include_self=%s).exp()" % (how, alone),
                         "r = index_reduce w 0 j v str:%s %s; y = exp r" % (how, alone))
        yield {"a": ((3, 2), F, False, "t"), "j": j, "b": ((3, 2), F, False, "dense")}, "a.index_reduce_(1, j, b, '%s')" % how, "a = index_reduce_ a 1 j b str:%s" % how
        yield {"a": U, "j": j, "b": ((2,), F, False, "dense")}, "y = a.index_reduce(0, j, b, '%s')" % how, "y = index_reduce a 0 j b str:%s" % how
    for a, index, b, how in ((A, A, A, "mean"), (A, j, A, "sum"), (A, j, ((2, 2), F, False, "dense"), "mean"), (((2, 3), F, False, "dense"), ((1, 2), I, False, "zero"), A, "mean"),
                             (A, j, K, "mean"), (A, ((3,), I, False, "zero"), A, "mean"), (A, ((2,), I, False, "dense"), A, "mean")):
        yield {"a": a, "j": index, "b": b}, "y = a.index_reduce(0, j, b, '%s')" % how, "y = index_reduce a 0 j b str:%s" % how


def reflectors():
    for shape, count in (((4, 3), 2), ((3, 3), 3), ((2, 4, 2), 2)):
        yield graded({"a": (shape, F, True, "small"), "t": ((*shape[:-2], count), F, True, "small")}, "y = torch.linalg.householder_product(a, t).exp()", "h = linalg_householder_product a t; y = exp h")


def cases():
    for part in (reflectors, activations, normalisations, pooling, special, parts_of_numbers, layers, places):
        yield from part()
