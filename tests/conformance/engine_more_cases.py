"""Cases for the operators beyond the first ones, one or two each: as engine_cases has them; and random ones. `graded` cases sum their result `y` and run backward."""
import random

F, D, I, B, H = "float32", "float64", "int64", "bool", "bfloat16"

W, A = ((2, 3), F, True, "dense"), ((2, 3), F, False, "dense")
S, T = ((2, 3), F, True, "small"), ((2, 3), F, True, "t")
V, U = ((3,), F, True, "dense"), ((3,), F, False, "dense")
K, M = ((2, 3), I, False, "dense"), ((2, 3), B, False, "dense")
P = ((4, 2, 3), F, True, "dense")
Q = ((4, 3, 5), F, True, "dense")


def graded(inputs, python, ours):
    return inputs, python + "\nq = y.sum()\nq.backward()", ours + "; q = sum y; backward q"


def unary():
    for name in ("sqrt", "rsqrt", "reciprocal", "log1p", "log2", "log10", "expm1", "erf", "floor", "ceil", "round", "trunc", "sign", "tan", "atan", "sinh",
                 "cosh", "sigmoid", "abs", "square"):
        yield graded({"w": S}, "y = torch.%s(w)" % name, "y = %s w" % name)
        yield {"a": ((3, 2), F, False, "s")}, "y = torch.%s(a)" % name, "y = %s a" % name
    for name in ("sqrt", "sigmoid", "exp", "floor", "abs", "sign", "neg", "tanh", "reciprocal"):
        yield {"k": K}, "y = torch.%s(k)" % name, "y = %s k" % name
        yield {"h": ((2, 3), H, False, "dense")}, "y = torch.%s(h)" % name, "y = %s h" % name
    for name in ("asin", "acos"):
        yield graded({"w": S}, "y = torch.%s(w)" % name, "y = %s w" % name)
    for name in ("sqrt_", "sigmoid_", "tanh_", "neg_", "relu_", "abs_", "log_", "sin_", "floor_", "reciprocal_", "rsqrt_"):
        yield {"a": A}, "a.%s()" % name, "a = %s a" % name
        yield graded({"w": S}, "y = w * 1\ny.%s()" % name, "n = number 1; y = mul.Tensor w n; y = %s y" % name)
    for name in ("isnan", "isinf", "isfinite", "logical_not"):
        yield {"a": A}, "y = torch.%s(a)" % name, "y = %s a" % name
        yield {"k": K}, "y = torch.%s(k)" % name, "y = %s k" % name
    yield {"m": M}, "y = ~m", "y = bitwise_not m"
    yield {"m": M}, "y = -m", "y = neg m"


def activations():
    f = "torch.nn.functional."
    yield graded({"w": W}, "y = %ssilu(w)" % f, "y = silu w")
    yield graded({"w": W}, "y = %sgelu(w)" % f, "y = gelu w")
    yield graded({"w": W}, "y = %sgelu(w, approximate='tanh')" % f, "y = gelu w str:tanh")
    yield graded({"w": W}, "y = %sleaky_relu(w, 0.1)" % f, "y = leaky_relu w 0.1")
    yield graded({"w": W}, "y = %selu(w)" % f, "y = elu w 1.0")
    yield graded({"w": W}, "y = %ssoftplus(w)" % f, "y = softplus w")
    yield graded({"w": W}, "y = %shardtanh(w)" % f, "y = hardtanh w -1.0 1.0")
    yield graded({"w": W}, "y = %srelu6(w)" % f, "y = relu6 w")
    yield graded({"w": W}, "y = %slogsigmoid(w)" % f, "y = log_sigmoid w")
    yield graded({"w": W}, "y = %ssoftmax(w, 1)" % f, "y = softmax.int w 1")
    yield graded({"w": W}, "y = (%ssoftmax(w, 0) * w)" % f, "s = softmax.int w 0; y = mul.Tensor s w")
    yield graded({"w": T}, "y = %slog_softmax(w, -1) * 2" % f, "s = log_softmax.int w -1; n = number 2; y = mul.Tensor s n")
    yield {"k": K}, "y = %ssoftmax(k, 1)" % f, "y = softmax.int k 1"
    yield {"a": A}, "y = torch.softmax(a, 1, dtype=torch.float64)", "y = softmax.int a 1 dtype:float64"
    yield {"k": K}, "y = %sgelu(k)" % f, "y = gelu k"


def pairs():
    for name in ("eq", "ne", "lt", "le", "gt", "ge"):
        yield {"w": W, "a": ((3,), F, False, "dense")}, "y = torch.%s(w, a)" % name, "y = %s.Tensor w a" % name
        yield {"w": W}, "y = torch.%s(w, 1)" % name, "y = %s.Scalar w 1" % name
        yield {"k": K, "a": A}, "y = torch.%s(k, a)" % name, "y = %s.Tensor k a" % name
    for name in ("maximum", "minimum", "atan2", "xlogy"):
        full = name + ".Tensor" if name == "xlogy" else name
        yield {"a": A, "u": U}, "y = torch.%s(a, u)" % name, "y = %s a u" % full
        if name != "xlogy":
            yield graded({"w": W, "v": V}, "y = torch.%s(w, v)" % name, "y = %s w v" % full)
    for name in ("logical_and", "logical_or", "logical_xor"):
        yield {"a": A, "m": M}, "y = torch.%s(a, m)" % name, "y = %s a m" % name
    for op, name in (("&", "and"), ("|", "or"), ("^", "xor")):
        yield {"k": K, "j": ((3,), I, False, "dense")}, "y = k %s j" % op, "y = __%s__.Tensor k j" % name
        yield {"m": M, "n": M}, "y = m %s n" % op, "y = __%s__.Tensor m n" % name
    yield {"a": A, "b": A}, "y = a & b", "y = __and__.Tensor a b"
    yield {"k": K}, "y = k | 1; z = k ^ 3; p = 1 | k; q = 2 ^ k", "y = __or__.Scalar k 1; z = __xor__.Scalar k 3; p = bitwise_or.Scalar k 1; q = bitwise_xor.Scalar k 2"
    yield {"k": K}, "k |= 1; k &= 6; k ^= 3", "k = __ior__.Scalar k 1; k = __iand__.Scalar k 6; k = __ixor__.Scalar k 3"
    yield {"k": K, "j": K}, "k ^= j", "k = __ixor__.Tensor k j"
    yield {"k": K}, "y = torch.bitwise_or(1, k); z = torch.bitwise_and(6, k); p = torch.bitwise_xor(3, k)", \
        "y = bitwise_or.Scalar_Tensor 1 k; z = bitwise_and.Scalar_Tensor 6 k; p = bitwise_xor.Scalar_Tensor 3 k"
    for name in ("remainder", "fmod"):
        yield {"a": A, "u": U}, "y = torch.%s(a, u)" % name, "y = %s.Tensor a u" % name
        yield graded({"w": W, "u": V}, "y = torch.%s(w, u)" % name, "y = %s.Tensor w u" % name)
        yield {"k": K}, "y = torch.%s(k, 3)" % name, "y = %s.Scalar k 3" % name
    yield {"k": K}, "y = k // 3", "n = number 3; y = floor_divide k n"
    yield {"a": A}, "y = a // 2", "n = number 2; y = floor_divide a n"
    yield {"a": A, "u": U}, "y = torch.div(a, u, rounding_mode='floor')", "y = div.Tensor_mode a u str:floor"
    yield graded({"w": W, "u": V}, "y = torch.div(w, u, rounding_mode='trunc')", "y = div.Tensor_mode w u str:trunc")
    yield graded({"w": W}, "y = 1 - w", "y = rsub.Scalar w 1")
    yield graded({"w": W, "a": A}, "y = torch.rsub(w, a)", "y = rsub.Tensor w a")
    for low, high in (("0", "1"), ("None", "1"), ("-0.5", "None"), ("0.25", "0.5")):
        python = ", ".join("%s=%s" % p for p in (("min", low), ("max", high)) if p[1] != "None")
        yield graded({"w": W}, "y = torch.clamp(w, %s)" % python, "y = clamp w %s %s" % (low, high))
        yield {"k": K}, "y = torch.clamp(k, %s)" % python, "y = clamp k %s %s" % (low, high)
    yield graded({"w": W}, "y = torch.clamp_min(w, 0.5)", "y = clamp_min w 0.5")
    yield graded({"w": W}, "y = torch.clamp_max(w, 0.5)", "y = clamp_max w 0.5")
    yield {"a": A}, "a.clamp_(0, 1)", "a = clamp_ a 0 1"
    yield graded({"w": ((2, 3), F, True, "small"), "v": ((3,), F, True, "small")}, "y = torch.pow(w.exp(), v)", "e = exp w; y = pow.Tensor_Tensor e v")
    yield graded({"w": W}, "y = torch.pow(2.0, w)", "y = pow.Scalar 2.0 w")
    yield {"k": K}, "y = torch.pow(k, 3)", "y = pow.Tensor_Scalar k 3"
    yield {"a": A}, "a.pow_(2)", "a = pow_.Scalar a 2"
    yield graded({"w": W, "v": V, "a": A}, "y = torch.addcmul(w, v, a, value=2)", "y = addcmul w v a 2")
    yield graded({"w": W, "v": V, "a": A}, "y = torch.addcdiv(w, v, a, value=2)", "y = addcdiv w v a 2")
    yield {"a": A, "b": A}, "a.addcmul_(b, b, value=0.5); a.addcdiv_(b, b, value=-1)", "a = addcmul_ a b b 0.5; a = addcdiv_ a b b -1"
    yield {"k": K}, "y = torch.addcdiv(k, k, k)", "y = addcdiv k k k"
    yield graded({"w": W, "v": W}, "y = torch.lerp(w, v, 0.3)", "y = lerp.Scalar w v 0.3")
    yield {"a": A, "b": A}, "a.lerp_(b, 0.75)", "a = lerp_.Scalar a b 0.75"
    yield graded({"w": W, "v": W, "u": V}, "y = torch.lerp(w, v, u)", "y = lerp.Tensor w v u")
    yield {"a": A, "d": ((2, 3), D, False, "dense")}, "y = torch.lerp(a, d, 0.5)", "y = lerp.Scalar a d 0.5"
    yield graded({"m": M, "w": W, "v": V}, "y = torch.where(m, w, v)", "y = where.self m w v")
    yield graded({"m": M, "w": W}, "y = torch.where(m, w, 0)", "y = where.ScalarOther m w 0")
    yield {"m": M, "a": A, "k": K}, "y = torch.where(m, a, k)", "y = where.self m a k"
    yield {"a": A, "b": A}, "y = torch.where(a, a, b)", "y = where.self a a b"
    yield graded({"w": W, "m": M}, "y = w.masked_fill(m, 2.0)", "y = masked_fill.Scalar w m 2.0")
    yield graded({"w": W, "m": ((3,), B, False, "dense")}, "y = w * 1\ny.masked_fill_(m, 2.0)", "n = number 1; y = mul.Tensor w n; y = masked_fill_.Scalar y m 2.0")
    yield {"a": A, "b": A}, "a.masked_fill_(b, 1)", "a = masked_fill_.Scalar a b 1"
    yield {"a": A, "b": A}, "y = torch.isclose(a, b)", "y = isclose a b"
    yield {"h": ((2, 3), H, False, "dense"), "g": ((3,), H, False, "dense")}, "y = h + g; z = h * g; s = h.sum(); m = h.mean()", "y = add.Tensor h g; z = mul.Tensor h g; s = sum h; m = mean h"
    yield {"h": ((2, 3), H, False, "dense"), "a": A}, "y = h * a; z = h + 1", "y = mul.Tensor h a; n = number 1; z = add.Tensor h n"
    yield {"w": W}, "y = w.to(torch.bfloat16)", "y = to.dtype w dtype:bfloat16"


def reductions():
    for name in ("max", "min", "prod", "any", "all", "std", "var"):
        ours = {"std": "std.correction", "var": "var.correction"}.get(name, name)
        case = {"w": W}, "y = torch.%s(w)" % name, "y = %s w" % ours
        yield case if name in ("any", "all") else graded(*case)
        yield {"k": ((3, 2), I, False, "t")}, "y = torch.%s(k)" % name, "y = %s k" % ours
    yield {"m": M}, "y = m.any(); z = m.all(1)", "y = any m; z = all.dim m 1"
    for name in ("max", "min"):
        yield graded({"w": W}, "y, i = torch.%s(w, 1)" % name, "y,i = %s.dim w 1" % name)
        yield graded({"w": T}, "y, i = torch.%s(w, 0, keepdim=True)" % name, "y,i = %s.dim w 0 True" % name)
        yield {"e": ((2, 0), F, False, "dense")}, "y = torch.%s(e)" % name, "y = %s e" % name
    for name in ("amax", "amin"):
        yield graded({"w": W}, "y = torch.%s(w, 1)" % name, "y = %s w [1]" % name)
        yield graded({"w": W}, "y = torch.%s(w, (0, 1))" % name, "y = %s w [0,1]" % name)
        yield {"a": A}, "y = torch.%s(a, 0, True)" % name, "y = %s a [0] True" % name
    for name in ("argmax", "argmin"):
        yield {"a": A}, "y = torch.%s(a)" % name, "y = %s a" % name
        yield {"a": A}, "y = torch.%s(a, 1)" % name, "y = %s a 1" % name
        yield {"k": K}, "y = torch.%s(k, 0, keepdim=True)" % name, "y = %s k 0 True" % name
    yield graded({"w": W}, "y = w.prod(1)", "y = prod.dim_int w 1")
    yield {"a": A}, "y = a.any(1); z = a.all(0, keepdim=True)", "y = any.dim a 1; z = all.dim a 0 True"
    yield graded({"w": W}, "y = w.var(1)", "y = var.dim w [1]")
    yield graded({"w": W}, "y = w.std(1, keepdim=True)", "y = std.dim w [1] True True")
    yield graded({"w": W}, "v, y = torch.var_mean(w, 1)", "v,y = var_mean.dim w [1]")
    yield graded({"w": W}, "y = torch.linalg.vector_norm(w)", "y = linalg_vector_norm w")
    yield graded({"w": W}, "y = torch.linalg.vector_norm(w, 1)", "y = linalg_vector_norm w 1")
    yield graded({"w": W}, "y = torch.linalg.vector_norm(w, dim=1)", "y = linalg_vector_norm w 2 [1]")
    yield graded({"w": W}, "y = torch.logsumexp(w, 1)", "y = logsumexp w [1]")
    yield graded({"w": W}, "y = torch.cumsum(w, 1) * 2", "c = cumsum w 1; n = number 2; y = mul.Tensor c n")
    yield graded({"w": W}, "y = torch.cumprod(w, 1)", "y = cumprod w 1")
    yield {"k": K}, "y = torch.cumsum(k, 0)", "y = cumsum k 0"
    yield graded({"w": W}, "y, i = torch.sort(w, 1)", "y,i = sort w 1")
    yield graded({"w": T}, "y, i = torch.sort(w, 0, descending=True)", "y,i = sort w 0 True")
    yield {"a": A}, "y = torch.argsort(a, 1)", "y = argsort a 1"
    yield {"a": A}, "y = a.argsort(stable=True); z = torch.argsort(a, dim=0, descending=True, stable=False)", "y = argsort.stable a True; z = argsort.stable a False 0 True"
    yield graded({"w": W}, "y, i = torch.topk(w, 2)", "y,i = topk w 2")
    yield {"a": A}, "y = torch.topk(a, 4)", "y = topk a 4"
    yield {"m": M}, "y = torch.nonzero(m)", "y = nonzero m"


def products():
    yield graded({"p": P, "q": Q}, "y = torch.bmm(p, q)", "y = bmm p q")
    yield graded({"p": P, "q": Q}, "y = torch.matmul(p, q)", "y = matmul p q")
    yield graded({"p": P, "v": V}, "y = torch.matmul(p, v)", "y = matmul p v")
    yield graded({"v": V, "q": Q}, "y = torch.matmul(v, q)", "y = matmul v q")
    yield graded({"w": W, "q": Q}, "y = torch.matmul(w, q)", "y = matmul w q")
    yield graded({"w": A, "q": Q}, "y = torch.matmul(w, q)", "y = matmul w q")
    yield graded({"p": P, "m": ((3, 5), F, True, "dense")}, "y = torch.matmul(p, m)", "y = matmul p m")
    yield graded({"p": P, "m": ((3, 5), F, False, "t")}, "y = torch.matmul(p, m)", "y = matmul p m")
    yield graded({"p": P, "m": ((1, 3, 5), F, True, "dense")}, "y = torch.matmul(p, m)", "y = matmul p m")
    yield graded({"p": P, "m": ((2, 1, 3, 5), F, True, "dense")}, "y = torch.matmul(p, m)", "y = matmul p m")
    yield graded({"w": W, "v": V}, "y = torch.matmul(w, v)", "y = matmul w v")
    yield graded({"v": V, "m": ((3, 5), F, True, "dense")}, "y = torch.matmul(v, m)", "y = matmul v m")
    yield {"v": V, "u": V}, "y = torch.matmul(v, u)\ny.backward()", "y = matmul v u; backward y"
    yield {"p": P, "q": P}, "y = torch.bmm(p, q)", "y = bmm p q"
    yield {"w": W, "q": ((4,), F, True, "dense")}, "y = torch.mv(w, q)", "y = mv w q"
    yield {"v": V, "u": ((4,), F, False, "dense")}, "y = torch.dot(v, u)", "y = dot v u"
    yield graded({"b": ((2, 5), F, True, "dense"), "p": P, "q": Q}, "y = torch.baddbmm(b, p, q, beta=2, alpha=0.5)", "y = baddbmm b p q 2 0.5")
    yield graded({"b": ((2,), F, True, "dense"), "w": W, "v": V}, "y = torch.addmv(b, w, v, beta=2)", "y = addmv b w v 2")
    yield graded({"v": V, "u": ((2,), F, True, "dense")}, "y = torch.outer(v, u)", "y = outer v u")
    for look in ("dense", "t"):
        yield graded({"p": ((4, 2, 3), F, True, look), "w": ((5, 3), F, True, "dense"), "b": ((5,), F, True, "dense")}, "y = torch.nn.functional.linear(p, w, b)", "y = linear p w b")
        yield graded({"p": ((4, 2, 3), F, True, look), "w": ((5, 3), F, True, "dense")}, "y = torch.nn.functional.linear(p, w)", "y = linear p w")
    yield graded({"v": V, "w": ((5, 3), F, True, "dense"), "b": ((5,), F, True, "dense")}, "y = torch.nn.functional.linear(v, w, b)", "y = linear v w b")
    yield {"h": ((2, 3), H, False, "dense"), "g": ((4, 3), H, False, "dense"), "b": ((4,), H, False, "dense")}, "y = torch.nn.functional.linear(h, g, b)", "y = linear h g b"
    for equation, inputs in (("bij,bjk->bik", {"p": P, "q": Q}), ("ij->ji", {"w": W}), ("ij->", {"w": W}), ("i,j->ij", {"v": V, "u": V}), ("ij,j->i", {"w": W, "v": V}),
                             ("ij,jk", {"w": W, "m": ((3, 4), F, True, "dense")}), ("...ij,...jk->...ik", {"p": P, "q": Q}), ("ii->i", {"m": ((3, 3), F, True, "dense")}),
                             ("bij,bij->b", {"p": P, "q": P})):
        names = list(inputs)
        yield graded(inputs, "y = torch.einsum('%s', %s)" % (equation, ", ".join(names)), "y = einsum str:%s [%s]" % (equation, ",".join(names)))


def shapes():
    yield graded({"p": P}, "y = p.permute(2, 0, 1).exp()", "v = permute p [2,0,1]; y = exp v")
    yield graded({"w": W}, "y = w[:, 1:].exp()", "v = slice.Tensor w 1 1 9223372036854775807 1; y = exp v")
    yield graded({"w": W}, "y = w.narrow(1, 0, 2)", "y = narrow w 1 0 2")
    yield {"w": W}, "y = w.narrow(1, 2, 2)", "y = narrow w 1 2 2"
    yield graded({"w": ((1, 3, 1), F, True, "dense")}, "y = w.squeeze()", "y = squeeze w")
    yield graded({"w": ((1, 3, 1), F, True, "dense")}, "y = w.squeeze((0, 1))", "y = squeeze.dims w [0,1]")
    yield graded({"w": W}, "a, b = w.split(1)\ny = a * b", "a,b = split.Tensor w 1; y = mul.Tensor a b")
    yield graded({"w": W}, "a, b = w.split(2, 1)\ny = a.exp()", "a,b = split.Tensor w 2 1; y = exp a")
    yield graded({"w": W}, "a, b = w.split([1, 2], 1)\ny = b.exp()", "a,b = split_with_sizes w [1,2] 1; y = exp b")
    yield graded({"w": W}, "a, b = w.chunk(2, 1)\ny = a.exp()", "a,b = chunk w 2 1; y = exp a")
    yield graded({"w": W}, "a, b = w.unbind(0)\ny = a * b", "a,b = unbind.int w 0; y = mul.Tensor a b")
    yield {"w": W}, "a, b = (w * 1).unbind(0)\na.mul_(2)", "n = number 1; c = mul.Tensor w n; a,b = unbind.int c 0; k = number 2; a = mul_.Tensor a k"
    yield graded({"w": W}, "y = w.diagonal().exp()", "v = diagonal w; y = exp v")
    yield graded({"p": P}, "y = p.flatten(1).exp()", "v = flatten.using_ints p 1; y = exp v")
    yield graded({"p": P}, "y = p.unflatten(0, (2, -1)).exp()", "v = unflatten.int p 0 [2,-1]; y = exp v")
    yield graded({"w": T}, "y = w.contiguous()", "y = contiguous w")
    yield graded({"w": W, "a": A}, "y = w.view_as(a).expand_as(a).reshape_as(a)", "v = view_as w a; e = expand_as v a; y = reshape_as e a")
    yield graded({"w": W}, "y = w.T.exp()", "v = numpy_T w; y = exp v")
    yield graded({"w": W}, "y = w.mT.exp()", "v = mT w; y = exp v")
    yield graded({"p": P}, "y = p.movedim(0, 2).exp()", "v = movedim.int p 0 2; y = exp v")
    yield {"a": ((5,), F, False, "dense")}, "y = a.unfold(0, 2, 1)", "y = unfold a 0 2 1"
    yield graded({"w": W, "v": W}, "y = torch.cat([w, v], 1).exp()", "c = cat [w,v] 1; y = exp c")
    yield graded({"w": W, "v": W}, "y = torch.cat([w, v]).exp()", "c = cat [w,v] 0; y = exp c")
    yield graded({"w": W, "v": W}, "y = torch.stack([w, v], 1).exp()", "c = stack [w,v] 1; y = exp c")
    yield graded({"w": W, "v": W}, "y = torch.stack([w, v], 2).exp()", "c = stack [w,v] 2; y = exp c")
    yield {"w": W, "v": V}, "y = torch.cat([w, v])", "y = cat [w,v]"
    yield {"w": W, "v": V}, "y = torch.stack([w, v])", "y = stack [w,v]"
    yield {"a": A, "k": K}, "y = torch.cat([a, k])", "y = cat [a,k]"
    yield {"k": K, "j": K}, "y = torch.cat([k, j]); z = torch.cat([k, j[:1]])", "y = cat [k,j]; s = slice.Tensor j 0 None 1 1; z = cat [k,s]"
    yield {"a": ((2, 3), F, False, "t"), "b": ((2, 3), F, False, "t")}, "y = torch.cat([a, b], 1)", "y = cat [a,b] 1"
    yield graded({"w": W}, "y = w.repeat(2, 3).exp()", "r = repeat w [2,3]; y = exp r")
    yield graded({"v": V}, "y = v.repeat(2, 2)", "y = repeat v [2,2]")
    yield graded({"w": W}, "y = w.flip(1) * w", "f = flip w [1]; y = mul.Tensor f w")
    yield graded({"w": W}, "y = w.roll(1, 1) * w", "r = roll w [1] [1]; y = mul.Tensor r w")
    yield graded({"w": W}, "y = w.tril() * w", "r = tril w; y = mul.Tensor r w")
    yield graded({"w": W}, "y = w.triu(1) * w", "r = triu w 1; y = mul.Tensor r w")
    yield graded({"w": W}, "y = torch.nn.functional.pad(w, (1, 2))", "y = pad w [1,2] str:constant None")
    yield graded({"w": W}, "y = torch.nn.functional.pad(w, (-1, 1, 0, 1), value=2.0)", "y = pad w [-1,1,0,1] str:constant 2.0")


def indexing():
    j = ((2,), I, False, "zero")
    g = ((2, 1), I, False, "zero")
    yield graded({"w": W, "j": j}, "y = w.index_select(0, j).exp()", "s = index_select w 0 j; y = exp s")
    yield graded({"w": W, "j": j}, "y = w.index_select(1, j).exp()", "s = index_select w 1 j; y = exp s")
    yield graded({"v": V, "j": j}, "y = v.index_select(0, j).exp()", "s = index_select v 0 j; y = exp s")
    yield graded({"w": W, "g": g}, "y = w.gather(1, g).exp()", "s = gather w 1 g; y = exp s")
    yield graded({"w": W, "g": g, "v": ((2, 1), F, True, "dense")}, "y = w.scatter(1, g, v).exp()", "s = scatter.src w 1 g v; y = exp s")
    yield graded({"w": W, "g": g}, "y = w.scatter(1, g, 2.0).exp()", "s = scatter.value w 1 g 2.0; y = exp s")
    yield graded({"w": W, "g": g, "v": ((2, 1), F, True, "dense")}, "y = w.scatter_add(1, g, v).exp()", "s = scatter_add w 1 g v; y = exp s")
    yield {"a": A, "g": g, "v": ((2, 1), F, False, "dense")}, "a.scatter_(1, g, v); a.scatter_add_(1, g, v); a.scatter_(1, g, 3)", "a = scatter_.src a 1 g v; a = scatter_add_ a 1 g v; a = scatter_.value a 1 g 3"
    yield graded({"w": W, "j": j, "v": ((2, 3), F, True, "dense")}, "y = w.index_add(0, j, v).exp()", "s = index_add w 0 j v; y = exp s")
    yield graded({"w": W, "j": j}, "y = w[j].exp()", "s = index.Tensor w [j]; y = exp s")
    yield graded({"w": W, "j": j}, "y = w[:, j].exp()", "s = index.Tensor w [undefined,j]; y = exp s")
    yield graded({"w": W, "j": j}, "y = w[j, j].exp()", "s = index.Tensor w [j,j]; y = exp s")
    yield graded({"w": W, "m": M}, "y = w[m].exp()", "s = index.Tensor w [m]; y = exp s")
    yield {"w": W, "k": K}, "y = w[k]", "y = index.Tensor w [k]"
    yield {"a": A, "j": j, "u": U}, "y = a.index_put((j,), u); a.index_put_((j,), u, accumulate=True)", "y = index_put a [j] u; a = index_put_ a [j] u True"
    yield graded({"w": W, "j": j, "u": V}, "y = w.index_put((j,), u).exp()", "s = index_put w [j] u; y = exp s")
    yield {"a": A, "g": K}, "y = a.gather(1, g)", "y = gather a 1 g"
    yield {"k": j}, "y = torch.nn.functional.one_hot(k)", "y = one_hot k"
    yield {"k": j}, "y = torch.nn.functional.one_hot(k, 4)", "y = one_hot k 4"


def layers():
    f = "torch.nn.functional."
    x, c = ((2, 3, 5, 6), F, True, "small"), ((3,), F, True, "dense")
    yield graded({"k": ((2, 3), I, False, "zero"), "w": ((4, 2), F, True, "dense")}, "y = %sembedding(k, w).exp()" % f, "e = embedding w k; y = exp e")
    yield graded({"w": ((4, 3), F, True, "dense"), "g": c, "b": c}, "y = %slayer_norm(w, (3,), g, b) * w" % f, "l = layer_norm w [3] g b; y = mul.Tensor l w")
    yield graded({"w": ((3, 4), F, True, "t")}, "y = %slayer_norm(w, (4,)) * w" % f, "l = layer_norm w [4]; y = mul.Tensor l w")
    yield graded({"x": x, "g": c, "b": c}, "y = %sgroup_norm(x, 3, g, b) * x" % f, "l = group_norm x 3 g b; y = mul.Tensor l x")
    r, v = ((3,), F, False, "dense"), ((3,), F, False, "dense")
    yield graded({"x": x, "r": r, "v": v, "g": c, "b": c}, "y = %sbatch_norm(x, r, v * v, g, b, True, 0.25) * x" % f,
                 "s = mul.Tensor v v; l = batch_norm x g b r s True 0.25 0.00001 True; y = mul.Tensor l x")
    yield graded({"x": x, "r": r, "v": v, "g": c, "b": c}, "y = %sbatch_norm(x, r, v * v, g, b, False) * x" % f,
                 "s = mul.Tensor v v; l = batch_norm x g b r s False 0.1 0.00001 True; y = mul.Tensor l x")
    k = ((4, 3, 3, 3), F, True, "small")
    yield graded({"x": x, "k": k}, "y = %sconv2d(x, k)" % f, "y = conv2d x k None [1,1] [0,0] [1,1] 1")
    yield graded({"x": x, "k": k, "b": ((4,), F, True, "dense")}, "y = %sconv2d(x, k, b, padding=1).exp()" % f, "l = conv2d x k b [1,1] [1,1] [1,1] 1; y = exp l")
    yield graded({"x": ((2, 3, 5), F, True, "small"), "k": ((4, 3, 3), F, True, "small"), "b": ((4,), F, True, "dense")}, "y = %sconv1d(x, k, b)" % f, "y = conv1d x k b [1] [0] [1] 1")
    one = ((1, 3, 5, 6), F, True, "small")
    yield graded({"x": one, "k": k, "b": ((4,), F, True, "dense")}, "y = %sconv2d(x, k, b, padding=1)" % f, "y = conv2d x k b [1,1] [1,1] [1,1] 1")
    yield graded({"x": ((2, 3, 5, 6), D, True, "small"), "k": ((4, 3, 3, 3), D, True, "small")}, "y = %sconv2d(x, k, stride=2).exp()" % f, "l = conv2d x k None [2,2] [0,0] [1,1] 1; y = exp l")
    for kernel, options, ours in (((4, 3, 3, 3), "padding='same'", "[1,1] str:same [1,1]"), ((4, 3, 2, 3), "padding='same', dilation=(1, 2)", "[1,1] str:same [1,2]"),
                                  ((4, 3, 3, 3), "padding='valid'", "[1,1] str:valid [1,1]")):
        yield graded({"x": x, "k": (kernel, F, True, "small")}, "y = %sconv2d(x, k, %s)" % (f, options), "y = conv2d.padding x k None %s 1" % ours)
    yield {"x": x, "k": k}, "y = %sconv2d(x, k, padding='same', stride=2)" % f, "y = conv2d.padding x k None [2,2] str:same [1,1] 1"
    yield {"x": ((3, 5), F, True, "small"), "k": ((4, 3, 2), F, True, "small")}, "y = %sconv1d(x, k, padding='same')" % f, "y = conv1d.padding x k None [1] str:same [1] 1"
    yield {"x": x, "k": ((4, 2, 3, 3), F, True, "small")}, "y = %sconv2d(x, k)" % f, "y = conv2d x k None [1,1] [0,0] [1,1] 1"
    yield graded({"x": x}, "y = %smax_pool2d(x, 2).exp()" % f, "l = max_pool2d x [2,2] [2,2] [0,0] [1,1] False; y = exp l")
    yield graded({"x": x}, "y = %smax_pool2d(x, 3, 2, 1)" % f, "y = max_pool2d x [3,3] [2,2] [1,1] [1,1] False")
    yield graded({"x": x}, "y = %savg_pool2d(x, 2, padding=1).exp()" % f, "l = avg_pool2d x [2,2] [2,2] [1,1] False True; y = exp l")
    yield graded({"x": x}, "y = %sadaptive_avg_pool2d(x, 1)" % f, "y = adaptive_avg_pool2d x [1,1]")
    yield graded({"x": x}, "y = %sadaptive_avg_pool2d(x, (2, 3)).exp()" % f, "l = adaptive_avg_pool2d x [2,3]; y = exp l")
    yield graded({"q": P, "k": P, "v": P}, "y = %sscaled_dot_product_attention(q, k, v)" % f, "y = scaled_dot_product_attention q k v")
    t, w, u = ((2,), I, False, "zero"), ((2, 3), F, True, "dense"), ((2, 3), F, False, "dense")
    yield {"w": w, "t": t}, "y = %scross_entropy(w, t)\ny.backward()" % f, "y = cross_entropy_loss w t; backward y"
    yield {"w": w, "t": t}, "y = %scross_entropy(w, t, reduction='sum')\ny.backward()" % f, "y = cross_entropy_loss w t None 2; backward y"
    yield graded({"w": w, "t": t}, "y = %scross_entropy(w, t, reduction='none')" % f, "y = cross_entropy_loss w t None 0")
    yield {"w": w, "t": t, "c": c}, "y = %scross_entropy(w, t, c.detach())\ny.backward()" % f, "d = detach c; y = cross_entropy_loss w t d; backward y"
    yield {"w": w, "u": u}, "y = %scross_entropy(w, u)\ny.backward()" % f, "y = cross_entropy_loss w u; backward y"
    yield {"w": w, "t": t}, "y = %scross_entropy(w, t, label_smoothing=0.1)\ny.backward()" % f, "y = cross_entropy_loss w t None 1 -100 0.1; backward y"
    yield {"w": w, "t": t}, "y = %snll_loss(w, t)\ny.backward()" % f, "y = nll_loss_nd w t; backward y"
    yield {"w": w, "t": ((2,), I, False, "dense")}, "y = %scross_entropy(w, t)" % f, "y = cross_entropy_loss w t"
    yield {"w": w, "t": ((3,), I, False, "zero")}, "y = %scross_entropy(w, t)" % f, "y = cross_entropy_loss w t"
    for name, ours in (("l1_loss", "l1_loss"), ("smooth_l1_loss", "smooth_l1_loss"), ("huber_loss", "huber_loss")):
        yield {"w": w, "u": u}, "y = %s%s(w, u)\ny.backward()" % (f, name), "q = broadcast w u; y = %s w u; backward y" % ours
        yield graded({"w": w, "u": u}, "y = %s%s(w, u, reduction='none')" % (f, name), "b = broadcast w u; y = %s w u 0" % ours)
    yield {"w": w, "u": u}, "y = %sbinary_cross_entropy_with_logits(w, u)\ny.backward()" % f, "y = binary_cross_entropy_with_logits w u; backward y"
    yield {"w": w, "u": u}, "y = %sbinary_cross_entropy(torch.sigmoid(w), torch.sigmoid(u))\ny.backward()" % f, "p = sigmoid w; t = sigmoid u; y = binary_cross_entropy p t; backward y"
    yield {"w": w, "u": u}, "y = %skl_div(w, torch.sigmoid(u), reduction='sum')\ny.backward()" % f, "t = sigmoid u; y = kl_div w t 2; backward y"
    yield graded({"w": w}, "y = %sdropout(w, 0.5, False)" % f, "y = dropout w 0.5 False")
    yield graded({"w": w}, "y = %sdropout(w, 1.0)" % f, "y = dropout w 1.0 True")
    yield {"w": w}, "y = %sdropout(w, 0.0)" % f, "y = dropout w 0.0 True"


def layers_above():
    """Autocast and lazy conjugation."""
    x, w, b = ((2, 3), F, False, "dense"), ((4, 3), F, True, "dense"), ((4,), F, True, "dense")
    on = "with torch.autocast('cpu', torch.bfloat16):"
    lin = "torch.nn.functional.linear"
    yield ({"x": x, "w": w, "b": b}, "%s\n    with torch.no_grad():\n        n = %s(x, w, b)\n    y = %s(x, w, b)\n    z = %s(x, w, b)\ns = y.sum()\ns.backward()" % (on, lin, lin, lin),
           "push autocast; push no_grad; n = linear x w b; pop; y = linear x w b; z = linear x w b; pop; s = sum y; backward s")
    yield ({"x": x, "w": w}, "%s\n    y = %s(x, w)\n    with torch.inference_mode():\n        z = %s(x, w)\n    with torch.autocast('cpu', enabled=False):\n        v = %s(x, w)" % (on, lin, lin, lin),
           "push autocast; y = linear x w; push inference; z = linear x w; pop; push no_autocast; v = linear x w; pop; pop")
    yield ({"x": x, "h": ((2, 3), H, False, "dense"), "d": ((2, 3), D, False, "dense")},
           "%s\n    y = torch.cat([x, h])\n    z = torch.stack([h, h])\n    m = torch.mm(d, d.t())\n    p = h.prod()" % on,
           "push autocast; y = cat [x,h]; z = stack [h,h]; t = t d; m = mm d t; p = prod h; pop")
    yield {"x": x, "h": ((2, 3), H, False, "dense")}, "%s\n    y = torch.nn.functional.mse_loss(h, h)" % on, "push autocast; q = broadcast h h; y = mse_loss h h; pop"
    c = ((2, 2), "complex64", False, "dense")
    yield {"c": c}, "y = torch.exp(c.conj())", "v = _conj c; y = exp v"
    yield {"c": c}, "y = torch.exp(c)", "y = exp c"
    yield {"c": c, "e": c}, "y = c.conj() * e.conj()", "v = _conj c; u = _conj e; y = mul.Tensor v u"
    yield {"c": c}, "y = c.conj().conj()", "v = _conj c; y = _conj v"
    yield {"c": c}, "y = c.conj().resolve_conj()", "v = _conj c; y = resolve_conj v"
    yield {"c": c}, "y = c.conj().imag + 1", "v = _conj c; i = imag v; n = number 1; y = add.Tensor i n"
    yield {"c": c}, "y = c.real + 1", "v = real c; n = number 1; y = add.Tensor v n"
    yield {"c": c}, "v = c.conj()\nv.add_(1)\ny = c + 0", "v = _conj c; n = number 1; v = add_.Tensor v n; k = number 0; y = add.Tensor c k"


def overlapping():
    """Views whose elements, or whose base's elements, are one element of memory."""
    w = ((5,), F, True, "dense")
    yield graded({"w": w}, "y = w.as_strided((3, 2), (1, 1)).exp()", "v = as_strided w [3,2] [1,1]; y = exp v")
    yield graded({"w": w}, "y = w.as_strided((2, 1, 2), (2, 7, 1), 1).exp()", "v = as_strided w [2,1,2] [2,7,1] 1; y = exp v")
    yield graded({"w": w}, "y = w.as_strided((4, 2), (0, 1)).exp()", "v = as_strided w [4,2] [0,1]; y = exp v")
    yield graded({"w": ((3, 2), F, True, "e")}, "y = w.as_strided((2,), (1,)).exp()", "v = as_strided w [2] [1]; y = exp v")


def random_numbers():
    for python, made, more in (("torch.rand(5)", "rand [5]", ""), ("torch.randn(20)", "randn [20]", ""), ("torch.randint(0, 9, (6,))", "randint.low 0 9 [6]", ""),
                               ("torch.randperm(7)", "randperm 7", ""), ("torch.empty(9).bernoulli_(0.3)", "empty.memory_format [9]", "; y = bernoulli_.float y 0.3")):
        yield {}, "torch.manual_seed(5); y = %s" % python, "seed 5; push factory; y = %s; pop%s" % (made, more)
    yield {"w": W}, "torch.manual_seed(5); y = torch.nn.functional.dropout(w, 0.5)", "seed 5; y = dropout w 0.5 True"
    for python, ours in (("torch.arange(5)", "arange 5"), ("torch.arange(1, 7, 2)", "arange.start_step 1 7 2"), ("torch.arange(0.0, 1.0, 0.25)", "arange.start_step 0.0 1.0 0.25"),
                         ("torch.full((2, 2), 3)", "full [2,2] 3"), ("torch.linspace(0, 1, 7)", "linspace 0 1 7"), ("torch.arange(3, 1)", "arange.start 3 1")):
        yield {}, "y = %s" % python, "push factory; y = %s; pop" % ours
    yield {"a": A}, "y = torch.full_like(a, 2.0); z = a.new_full((2,), 3.0); o = a.new_ones((2,))", "push factory; y = full_like a 2.0; pop; z = new_full a [2] 3.0; o = new_ones a [2]"


RANDOM_UNARY = ["sqrt", "rsqrt", "reciprocal", "log1p", "expm1", "erf", "floor", "ceil", "round", "trunc", "sign", "atan", "sinh", "sigmoid", "abs", "square", "isnan", "isfinite", "logical_not"]
RANDOM_PAIRS = [("maximum", "maximum"), ("minimum", "minimum"), ("eq", "eq.Tensor"), ("lt", "lt.Tensor"), ("ge", "ge.Tensor"), ("logical_and", "logical_and"), ("atan2", "atan2"),
                ("fmod", "fmod.Tensor"), ("remainder", "remainder.Tensor"), ("floor_divide", "floor_divide")]


def drawn(seed, count):
    """Random inputs as engine_cases draws them: broadcast, strided, empty, of other types, and wrong ones."""
    rng = random.Random(seed)
    for _ in range(count):
        shape = tuple(rng.choice([0, 1, 2, 3, 4]) if rng.random() < 0.9 else 5 for _ in range(rng.randint(0, 3)))
        other = tuple(s if rng.random() < 0.7 else 1 if rng.random() < 0.8 else 7 for s in shape)[rng.randint(0, min(1, len(shape))):]

        def one(s):
            dtype = rng.choice([F, F, F, D, I, B])
            return s, dtype, dtype in (F, D) and rng.random() < 0.5, rng.choice(["dense", "dense", "t", "s", "e"])
        x, y, d = one(shape), one(other), rng.randint(-3, 3)
        keep = rng.random() < 0.5
        how = rng.randrange(5)
        if how == 0:
            name = rng.choice(RANDOM_UNARY)
            made = {"x": x}, "z = torch.%s(x)" % name, "z = %s x" % name
        elif how == 1:
            python, ours = rng.choice(RANDOM_PAIRS)
            if python in ("floor_divide", "fmod", "remainder"):  # no division of whole numbers by 0
                y = (y[0], F) + y[2:]
            made = {"x": x, "y": y}, "z = torch.%s(x, y)" % python, "z = %s x y" % ours
        elif how == 2:
            made = rng.choice([({"x": x}, "z = x.amax(%d, %s)" % (d, keep), "z = amax x [%d] %s" % (d, keep)), ({"x": x}, "z = x.argmax(%d)" % d, "z = argmax x %d" % d),
                               ({"x": x}, "z, i = x.max(%d, %s)" % (d, keep), "z,i = max.dim x %d %s" % (d, keep)), ({"x": x}, "z = x.any(%d, %s)" % (d, keep), "z = any.dim x %d %s" % (d, keep)),
                               ({"x": x}, "z = x.all()", "z = all x"), ({"x": x}, "z = x.prod(%d)" % d, "z = prod.dim_int x %d" % d), ({"x": x}, "z = x.cumsum(%d)" % d, "z = cumsum x %d" % d),
                               ({"x": x}, "z = x.var(%d)" % d, "z = var.dim x [%d]" % d), ({"x": x}, "z = x.softmax(%d)" % d, "z = softmax.int x %d" % d),
                               ({"x": x}, "z = x.log_softmax(%d)" % d, "z = log_softmax.int x %d" % d)])
        elif how == 3:
            made = rng.choice([({"x": x}, "z = x.flatten()", "z = flatten.using_ints x"), ({"x": x}, "z = x.squeeze()", "z = squeeze x"),
                               ({"x": x}, "z = x.narrow(%d, 0, 1)" % d, "z = narrow x %d 0 1" % d), ({"x": x}, "z = x.flip(%d)" % d, "z = flip x [%d]" % d),
                               ({"x": x}, "z = x.tril()", "z = tril x"), ({"x": x}, "z = x.movedim(%d, 0)" % d, "z = movedim.int x %d 0" % d),
                               ({"x": x}, "z = torch.nonzero(x)", "z = nonzero x"), ({"x": x}, "z = torch.clamp(x, min=1)", "z = clamp x 1")])
        else:
            made = rng.choice([({"x": x, "y": y}, "z = torch.cat([x, y], %d)" % d, "z = cat [x,y] %d" % d), ({"x": x}, "z = torch.stack([x, x], %d)" % d, "z = stack [x,x] %d" % d),
                               ({"x": x, "y": y}, "z = torch.where(y > 0, x, 1.0)", "c = gt.Scalar y 0; z = where.ScalarOther c x 1.0"),
                               ({"x": x, "y": (y[0], B, False, y[3])}, "z = x.masked_fill(y, 1)", "z = masked_fill.Scalar x y 1")])
        inputs, python, ours = made
        if any(v[2] for v in inputs.values()):
            yield inputs, python + "\nq = z.sum()\nq.backward()", ours + "; q = sum z; backward q"
        else:
            yield made


def second():
    """Gradients of gradients."""
    for python, ours in (("w.exp() * w", "e = exp w; z = mul.Tensor e w"), ("torch.sigmoid(w)", "z = sigmoid w"), ("torch.tanh(w)", "z = tanh w"), ("w ** 3", "z = pow.Tensor_Scalar w 3"),
                         ("torch.softmax(w, 1)", "z = softmax.int w 1"), ("w.log_softmax(1)", "z = log_softmax.int w 1"), ("torch.nn.functional.silu(w)", "z = silu w"),
                         ("w / w.exp()", "e = exp w; z = div.Tensor w e"), ("torch.mm(w, w.t())", "t = t w; z = mm w t")):
        yield ({"w": S}, "z = %s\ns = (z * z).sum()\n(g,) = torch.autograd.grad(s, w, create_graph=True)\nq = g.sum()\nq.backward()" % python,
               "%s; s2 = mul.Tensor z z; s = sum s2; g = grad_of s w; q = sum g; backward q" % ours)


def cases():
    for part in (unary, activations, pairs, reductions, products, shapes, indexing, layers, layers_above, overlapping, random_numbers, second):
        yield from part()
