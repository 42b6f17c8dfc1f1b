"""Operators of wider use, one or two cases each, as engine_cases has them: in-place and out= forms, rarer functions, linear algebra."""
from engine_cases import B, D, F, I
from engine_more_cases import A, K, M, S, T, U, V, W, graded

H, Y = "float16", "uint8"
X = ((2, 3), D, True, "dense")
N, Z = ((3, 3), D, True, "dense"), ((3, 3), D, False, "dense")
BATCH = ((2, 3, 3), D, True, "dense")
# A matrix far from singular, and one that is positive definite, of such: Python, and commands.
REGULAR = "g = w + torch.diag_embed(w.new_full((3,), 9))", "f = new_full w [3] 9; d = diag_embed f; g = add.Tensor w d"
POSITIVE = "s = w @ w.mT + torch.diag_embed(w.new_full((3,), 9))", "t = mT w; m = matmul w t; f = new_full w [3] 9; d = diag_embed f; s = add.Tensor m d"
# Not equal yet, as engine_breadth_cases has it.
KNOWN = {"torch.linalg.lstsq(": ("values", "empty singular values have a node"), "w.index_fill(1, i, v)": ("hops", "a copy of an expanded gradient")}


def in_place():
    for name in ("lt", "le", "gt", "ge", "eq", "ne"):
        yield {"a": A, "u": U}, "a.%s_(u)" % name, "a = %s_.Tensor a u" % name
    yield {"a": A}, "a.gt_(1)", "a = gt_.Scalar a 1"
    yield {"a": A, "u": U}, "u.lt_(a)", "u = lt_.Tensor u a"
    for name in ("cumsum", "cumprod"):
        yield graded({"w": W}, "y = w * 1\ny.%s_(1)" % name, "n = number 1; y = mul.Tensor w n; y = %s_ y 1" % name)
    for name in ("tan", "atan", "sinh", "erf", "expm1", "sign", "trunc", "mish", "gelu", "hardswish"):
        python = "torch.nn.functional.%s(y, inplace=True)" % name if name in ("mish", "hardswish") else "torch._C._nn.gelu_(y)" if name == "gelu" else "y.%s_()" % name
        yield graded({"w": S}, "y = w * 1\n%s" % python, "n = number 1; y = mul.Tensor w n; y = %s_ y" % name)
    yield {"a": A}, "a.triu_(); a.tril_(-1)", "a = triu_ a; a = tril_ a -1"
    yield {"a": A, "b": A}, "a.remainder_(b); a.fmod_(2.0); a.floor_divide_(b)", "a = remainder_.Tensor a b; a = fmod_.Scalar a 2.0; a = floor_divide_.Tensor a b"
    yield {"a": A, "b": A}, "a.atan2_(b); a.pow_(b); a.lerp_(b, b)", "a = atan2_ a b; a = pow_.Tensor a b; a = lerp_.Tensor a b b"
    yield {"k": K}, "k.bitwise_xor_(k); k.bitwise_not_()", "k = bitwise_xor_.Tensor k k; k = bitwise_not_ k"
    yield {"m": M, "n": M}, "m.logical_or_(n); m.logical_xor_(n); m.logical_not_()", "m = logical_or_ m n; m = logical_xor_ m n; m = logical_not_ m"
    yield {"a": ((3, 3), F, False, "dense"), "b": ((3, 2), F, False, "dense"), "c": ((2, 3), F, False, "dense")}, "a.addmm_(b, c)", "a = addmm_ a b c"
    yield {"a": A, "b": A}, "a.multiply_(b); a.subtract_(b); a.absolute_(); a.negative_(); a.square_(); a.clip_(0, 9)", \
        "a = multiply_.Tensor a b; a = subtract_.Tensor a b; a = absolute_ a; a = negative_ a; a = square_ a; a = clip_ a 0 9"
    yield {"a": A, "u": ((7,), F, False, "dense")}, "a.lt_(u)", "a = lt_.Tensor a u"


def out_arguments():
    none = ((0,), F, False, "dense")
    for name in ("sin", "tanh", "sqrt", "log1p", "sigmoid", "floor", "neg", "reciprocal", "erf", "sign"):
        yield {"a": A, "o": none}, "torch.%s(a, out=o)" % name, "o = %s.out a o" % name
    for name in ("lt", "eq"):
        yield {"a": A, "u": U, "o": ((2, 3), B, False, "dense")}, "torch.%s(a, u, out=o)" % name, "o = %s.Tensor_out a u o" % name
    for name, full in (("minimum", "minimum.out"), ("remainder", "remainder.Tensor_out"), ("atan2", "atan2.out"), ("fmod", "fmod.Tensor_out"), ("hypot", "hypot.out")):
        yield {"a": A, "u": U, "o": none}, "torch.%s(a, u, out=o)" % name, "o = %s a u o" % full
    square, line = ((3, 3), F, False, "dense"), ((3,), F, False, "dense")
    yield {"a": A, "c": square, "o": none}, "torch.mm(a, c, out=o)", "o = mm.out a c o"
    yield {"a": A, "c": square, "o": none}, "torch.matmul(a, c, out=o)", "o = matmul.out a c o"
    yield {"a": A, "u": line, "o": ((2,), F, False, "dense")}, "torch.matmul(a, u, out=o)", "o = matmul.out a u o"
    yield {"b": ((2, 3, 3), F, False, "dense"), "c": square, "o": ((2, 3, 3), F, False, "dense")}, "torch.matmul(b, c, out=o)", "o = matmul.out b c o"
    yield {"b": ((2, 3, 3), F, False, "dense"), "o": none}, "torch.bmm(b, b, out=o)", "o = bmm.out b b o"
    yield {"u": line, "o": none}, "torch.outer(u, u, out=o); torch.stack([u, u], out=o); torch.cat([u, u], out=o)", \
        "o = outer.out u u o; o = stack.out [u,u] 0 o; o = cat.out [u,u] 0 o"
    yield {"a": A, "o": none, "i": ((0,), I, False, "dense")}, "torch.max(a, 1, out=(o, i)); torch.sort(a, out=(o, i))", \
        "o,i = max.dim_max a 1 False o i; o,i = sort.values a -1 False o i"
    yield {"a": A, "o": none}, "torch.sum(a, 0, out=o); torch.mean(a, 0, out=o); torch.prod(a, 0, out=o); torch.std(a, 0, out=o)", \
        "o = sum.IntList_out a [0] False None o; o = mean.out a [0] False None o; o = prod.int_out a 0 False None o; o = std.out a [0] True False o"
    yield {"a": A, "m": M, "o": none}, "torch.masked_select(a, m, out=o)", "o = masked_select.out a m o"
    yield {"o": ((2, 2), F, False, "dense")}, "torch.zeros(2, 2, out=o); torch.ones(3, out=o); torch.full((2, 2), 3.0, out=o)", \
        "o = zeros.out [2,2] o; o = ones.out [3] o; o = full.out [2,2] 3.0 o"
    yield {"a": A, "w": W, "o": ((2, 3), F, False, "dense")}, "torch.mul(a, w, out=o)", "o = mul.out a w o"


def functions():
    for name in ("acosh", "asinh", "atanh", "digamma", "lgamma", "erfinv", "sinc", "i0", "frac", "logit", "angle", "deg2rad", "arctan", "fix"):
        w = "w.abs() + 1.5" if name == "acosh" else "w / 9" if name in ("atanh", "erfinv") else "w.sigmoid()" if name == "logit" else "w * 1"
        made = {"w.abs() + 1.5": "a = abs w; n = number 1.5; v = add.Tensor a n", "w / 9": "n = number 9; v = div.Tensor w n", "w.sigmoid()": "v = sigmoid w",
                "w * 1": "n = number 1; v = mul.Tensor w n"}[w]
        yield graded({"w": X}, "v = %s\ny = torch.%s(v)" % (w, name), "%s; y = %s v" % (made, name))
    yield graded({"w": X}, "y = torch.polygamma(1, w)", "y = polygamma 1 w")
    for name in ("entr", "log_ndtr", "ndtr", "expit"):
        yield graded({"w": X}, "y = torch.special.%s(w)" % name, "y = special_%s w" % name)
    for name in ("signbit", "isposinf", "isreal", "positive"):
        yield {"a": A}, "y = torch.%s(a)" % name, "y = %s a" % name
    for name, full in (("fmax", "fmax"), ("fmin", "fmin"), ("hypot", "hypot"), ("copysign", "copysign.Tensor"), ("logaddexp", "logaddexp"), ("logaddexp2", "logaddexp2"),
                       ("clamp", "clamp.Tensor"), ("clamp_min", "clamp_min.Tensor"), ("clamp_max", "clamp_max.Tensor")):
        yield graded({"w": W, "v": V}, "y = torch.%s(w, v)" % name, "y = %s w v" % full)
    yield graded({"w": W, "v": V, "u": U}, "y = torch.clamp(w, v, u)", "y = clamp.Tensor w v u")
    yield graded({"w": W, "v": V}, "y = torch.max(w, v) + torch.min(w, v)", "a = max.other w v; b = min.other w v; y = add.Tensor a b")
    yield graded({"w": S, "v": S}, "y = torch.special.xlog1py(w, v)", "y = special_xlog1py w v")
    yield {"k": K, "j": ((3,), I, False, "dense")}, "y = torch.gcd(k, j); z = torch.lcm(k, j); s = k << 1; t = k >> 1", \
        "y = gcd k j; z = lcm k j; s = __lshift__.Scalar k 1; t = __rshift__.Scalar k 1"
    yield {"a": A, "b": A}, "y = torch.heaviside(a, b); z = torch.nextafter(a, b); f = torch.float_power(a, 2)", "y = heaviside a b; z = nextafter a b; f = float_power.Tensor_Scalar a 2"
    yield {"a": A}, "y = torch.round(a, decimals=1)", "y = round.decimals a 1"
    yield {"k": K}, "y = torch.logit(k); z = torch.frac(k)", "y = logit k; z = frac k"


def halves():
    h, g = ((2, 3), H, False, "dense"), ((3, 3), H, False, "dense")
    yield {"h": h}, "y = h + h; z = h * 2; e = h.exp(); s = h.sum(); m = h.mean(1); f = h.float()", \
        "y = add.Tensor h h; n = number 2; z = mul.Tensor h n; e = exp h; s = sum h; m = mean.dim h [1]; f = to.dtype h dtype:float32"
    yield {"h": h, "g": g}, "y = h @ g; r = torch.relu(h); c = h > 1; t = torch.softmax(h, 1)", "y = matmul h g; r = relu h; n = number 1; c = gt.Scalar h 1; t = softmax.int h 1"
    yield graded({"w": ((2, 3), H, True, "small")}, "y = (w * w).tanh()", "p = mul.Tensor w w; y = tanh p")
    yield {"a": A}, "y = a.half(); z = y.double()", "y = to.dtype a dtype:float16; z = to.dtype y dtype:float64"
    yield {"a": ((2, 3), F, False, "small")}, "y = a.abs().to(torch.uint8); z = y + 1; f = y.float()", "b = abs a; y = to.dtype b dtype:uint8; n = number 1; z = add.Tensor y n; f = to.dtype y dtype:float32"


def linear_algebra():
    spd, reg = POSITIVE, REGULAR
    for w in (N, BATCH):
        yield graded({"w": w}, "%s\ny = torch.linalg.cholesky(s)" % spd[0], "%s; y = linalg_cholesky s" % spd[1])
        for name in ("inv", "det", "svdvals", "matrix_norm"):
            yield graded({"w": w}, "%s\ny = torch.linalg.%s(g)" % (reg[0], name), "%s; y = linalg_%s g" % (reg[1], name + (".str_ord" if name == "matrix_norm" else "")))
        yield graded({"w": w}, "%s\nl, y = torch.linalg.slogdet(g)" % reg[0], "%s; l,y = linalg_slogdet g" % reg[1])
        yield graded({"w": w, "b": ((3, 2), D, True, "dense")}, "%s\ny = torch.linalg.solve(g, b)" % reg[0], "%s; y = linalg_solve g b" % reg[1])
        yield graded({"w": w}, "%s\nq, r = torch.linalg.qr(g)\ny = q * r" % reg[0], "%s; q,r = linalg_qr g; y = mul.Tensor q r" % reg[1])
        yield graded({"w": w}, "%s\ny = torch.linalg.eigvalsh(s)" % spd[0], "%s; y = linalg_eigvalsh s" % spd[1])
        yield graded({"w": w}, "%s\nl, v = torch.linalg.eigh(s)\ny = (v * v) @ s" % spd[0], "%s; l,v = linalg_eigh s; p = mul.Tensor v v; y = matmul p s" % spd[1])
        yield {"w": w}, "y = torch.linalg.matrix_power(w, 3); r = torch.linalg.matrix_rank(w)", "y = linalg_matrix_power w 3; r = linalg_matrix_rank.atol_rtol_tensor w"
    for shape in ((4, 3), (3, 4)):
        w = shape, D, True, "dense"
        python, commands = "g = w * w * w\n", "g = mul.Tensor w w; g = mul.Tensor g w; "
        yield graded({"w": w}, python + "t = torch.linalg.svd(g, full_matrices=False)\ny = (t[0] * t[1]) @ t[2]", commands + "u,s,v = linalg_svd g False; p = mul.Tensor u s; y = matmul p v")
        yield graded({"w": w}, python + "q, r = torch.linalg.qr(g)\ny = q.abs().sum() + r.abs().sum()",
                     commands + "q,r = linalg_qr g; a = abs q; b = sum a; c = abs r; d = sum c; y = add.Tensor b d")
        yield graded({"w": w}, python + "y = torch.linalg.pinv(g)", commands + "y = linalg_pinv.atol_rtol_tensor g")
        yield {"w": w, "b": ((shape[0], 2), D, False, "dense")}, python + "y, r, k, v = torch.linalg.lstsq(g, b)", commands + "y,r,k,v = linalg_lstsq g b"
        yield {"w": w}, python + "t = torch.linalg.qr(g, 'complete')\ny = t[0] @ t[1]", commands + "q,r = linalg_qr g str:complete; y = matmul q r"
    yield graded({"w": N, "v": ((3,), D, True, "dense")}, reg[0] + "\ny = torch.linalg.solve(g, v)", reg[1] + "; y = linalg_solve g v")
    yield graded({"w": N, "b": ((2, 3), D, True, "dense")}, reg[0] + "\ny = torch.linalg.solve(g, b, left=False)", reg[1] + "; y = linalg_solve g b False")
    for upper in (True, False):
        yield graded({"w": N, "b": ((3, 2), D, True, "dense")}, "%s\ny = torch.linalg.solve_triangular(g, b, upper=%s)" % (reg[0], upper), "%s; y = linalg_solve_triangular g b %s" % (reg[1], upper))
    yield graded({"w": N, "b": ((3, 2), D, True, "dense")}, "%s\nl = torch.linalg.cholesky(s)\ny = torch.cholesky_solve(b, l)" % spd[0], "%s; l = linalg_cholesky s; y = cholesky_solve b l" % spd[1])
    for order in ("1", "2", "-2", "inf", "-1"):
        yield graded({"w": ((3, 4), D, True, "dense")}, "y = torch.linalg.matrix_norm(w, %s)" % ("float('inf')" if order == "inf" else order), "y = linalg_matrix_norm w %s" % order)
    yield graded({"w": ((3, 4), D, True, "dense")}, "y = torch.linalg.norm(w, 'nuc')", "y = linalg_norm.ord_str w str:nuc")
    yield graded({"w": ((3, 4), D, True, "dense")}, "y = torch.linalg.norm(w, 2)", "y = linalg_norm w 2")
    yield {"w": Z}, reg[0] + "; y = torch.linalg.cond(g); z = torch.linalg.cond(g, 1)", reg[1] + "; y = linalg_cond g; z = linalg_cond g 1"
    yield {"w": Z}, reg[0] + "; y = torch.linalg.matrix_power(g, -2); z = torch.linalg.matrix_power(g, 0); x = torch.linalg.matrix_power(g, 5)", \
        reg[1] + "; y = linalg_matrix_power g -2; z = linalg_matrix_power g 0; x = linalg_matrix_power g 5"
    yield graded({"w": W, "v": W}, "y = torch.linalg.cross(w, v)", "y = linalg_cross w v")
    yield graded({"w": V, "v": V}, "y = torch.cross(w, v) * torch.vdot(w, v)", "c = cross w v; d = vdot w v; y = mul.Tensor c d")
    yield graded({"w": W, "v": ((3, 4), F, True, "dense"), "x": ((4,), F, True, "dense")}, "y = torch.linalg.multi_dot([w, v, x])", "y = linalg_multi_dot [w,v,x]")
    yield {"w": Z, "o": ((0,), D, False, "dense")}, reg[0] + "; torch.linalg.inv(g, out=o)", reg[1] + "; o = linalg_inv.out g o"
    yield {"w": Z}, "l, p = torch.linalg.lu_factor(w)", "l,p = linalg_lu_factor w"
    for bad, call, ours in ((((2, 2), F, False, "zero"), "inv", "linalg_inv"), (((2, 3), F, False, "dense"), "det", "linalg_det"), (((3,), F, False, "dense"), "svd", "linalg_svd"),
                            (((2, 2), I, False, "dense"), "cholesky", "linalg_cholesky"), (((2, 2, 2), F, False, "zero"), "inv", "linalg_inv"), (((2, 2), F, False, "zero"), "cholesky", "linalg_cholesky")):
        yield {"a": bad}, "y = torch.linalg.%s(a)" % call, "y = %s a" % ours
    yield {"a": ((2, 2), F, False, "zero"), "b": ((2,), F, False, "dense")}, "y = torch.linalg.solve(a, b)", "y = linalg_solve a b"
    yield {"a": ((2, 2), F, False, "dense"), "b": ((3,), F, False, "dense")}, "y = torch.linalg.solve(a, b)", "y = linalg_solve a b"


def ranks():
    r = ((3, 4), F, True, "dense")
    for word in ("linear", "lower", "nearest", "midpoint"):
        yield graded({"w": r}, "y = torch.quantile(w, 0.3, dim=1, interpolation='%s')" % word, "y = quantile.scalar w 0.3 1 False str:%s" % word)
    yield graded({"w": r}, "y = torch.quantile(w, 0.6)", "y = quantile.scalar w 0.6")
    yield {"a": ((3, 4), F, False, "dense"), "u": ((2,), F, False, "small")}, "y = torch.quantile(a, u.abs(), dim=0, keepdim=True)", "q = abs u; y = quantile a q 0 True"
    yield graded({"w": r}, "y = torch.nanquantile(w, 0.4, dim=0)", "y = nanquantile.scalar w 0.4 0")
    yield graded({"w": r}, "y = torch.nansum(w.log(), 1)", "l = log w; y = nansum l [1]")
    yield graded({"w": r}, "y = torch.nanmean(w.log())", "l = log w; y = nanmean l")
    yield graded({"w": r}, "y = torch.nanmedian(w.sqrt())", "l = sqrt w; y = nanmedian l")
    yield {"w": ((3, 4), F, False, "dense")}, "y, i = torch.nanmedian(w.sqrt(), 1)", "l = sqrt w; y,i = nanmedian.dim l 1"
    yield graded({"w": r, "x": ((4,), F, True, "dense")}, "y = torch.trapezoid(w, x)", "y = trapezoid.x w x")
    yield graded({"w": r}, "y = torch.trapezoid(w, dx=0.5) + torch.cumulative_trapezoid(w).sum()", "a = trapezoid.dx w 0.5; b = cumulative_trapezoid.dx w; c = sum b; y = add.Tensor a c")
    yield graded({"w": r}, "y = torch.cov(w)", "y = cov w")
    yield {"w": ((3, 4), F, False, "dense")}, "y = torch.corrcoef(w)", "y = corrcoef w"
    for p in ("2", "1", "3"):
        yield graded({"w": ((4, 3), D, True, "dense"), "v": ((2, 3), D, True, "small")}, "y = torch.cdist(w, v, p=%s)" % p, "y = cdist w v %s.0" % p)
    yield graded({"w": ((30, 3), D, True, "small"), "v": ((2, 3), D, True, "dense")}, "y = torch.cdist(w, v)", "y = cdist w v")
    yield graded({"w": ((4, 3), D, True, "dense")}, "y = torch.pdist(w)", "y = pdist w")
    yield graded({"w": X, "v": X}, "y = torch.dist(w, v * 2)", "n = number 2; p = mul.Tensor v n; y = dist w p")
    yield graded({"w": W}, "y = torch.renorm(w, 2, 0, 1.0)", "y = renorm w 2 0 1.0")
    line = ((5,), F, False, "dense")
    yield {"a": line, "b": A}, "s = a.sort()[0]; y = torch.searchsorted(s, b); z = torch.bucketize(b, s, right=True)", "s,i = sort a; y = searchsorted.Tensor s b; z = bucketize.Tensor b s False True"
    yield {"a": A, "u": U}, "y = torch.isin(a, u); h = torch.histc(a, 4)", "y = isin.Tensor_Tensor a u; h = histc a 4"
    yield {"k": ((7,), I, False, "dense")}, "y, i, c = torch.unique_consecutive(k, return_inverse=True, return_counts=True)", "y,i,c = unique_consecutive k True True"
    yield {"k": ((4, 2), I, False, "dense")}, "y, i = torch.unique(k, dim=0, return_inverse=True)", "y,i = unique_dim k 0 True True"
    yield graded({"w": r}, "y, i = torch.kthvalue(w, 2)", "y,i = kthvalue w 2")
    yield graded({"w": r}, "y, i = torch.mode(w, 0)", "y,i = mode w 0")
    for name in ("cummax", "cummin"):
        yield graded({"w": r}, "y, i = torch.%s(w, 1)" % name, "y,i = %s w 1" % name)
    yield graded({"w": r}, "y = torch.logcumsumexp(w, 1)", "y = logcumsumexp w 1")
    yield {"a": A}, "y = torch.msort(a)", "y = msort a"


def pictures():
    nn = "torch.nn.functional."
    im = ((1, 2, 3, 4), F, True, "dense")
    for mode in ("nearest", "bilinear", "bicubic", "nearest-exact"):
        im = ((1, 2, 3, 4), D if mode == "bicubic" else F, True, "dense")
        name = {"nearest-exact": "_upsample_nearest_exact2d"}.get(mode, "upsample_%s2d" % mode)
        flag = " False" if mode in ("bilinear", "bicubic") else ""
        yield graded({"w": im}, "y = %sinterpolate(w, scale_factor=2, mode='%s').exp()" % (nn, mode), "u = %s.vec w None%s [2.0,2.0]; y = exp u" % (name, flag))
        yield graded({"w": im}, "y = %sinterpolate(w, size=(5, 3), mode='%s').exp()" % (nn, mode), "u = %s.vec w [5,3]%s None; y = exp u" % (name, flag))
    yield graded({"w": im}, "y = %sinterpolate(w, size=(6, 7), mode='bilinear', align_corners=True).exp()" % nn, "u = upsample_bilinear2d.vec w [6,7] True None; y = exp u")
    yield graded({"w": ((1, 2, 5), F, True, "dense")}, "y = %sinterpolate(w, scale_factor=2, mode='linear').exp()" % nn, "u = upsample_linear1d.vec w None False [2.0]; y = exp u")
    yield {"a": ((1, 1, 70, 60), F, False, "dense")}, "y = %sinterpolate(a, scale_factor=2)" % nn, "y = upsample_nearest2d.vec a None [2.0,2.0]"
    for mode in ("reflect", "replicate", "circular"):
        yield graded({"w": im}, "y = %spad(w, (1, 2, 1, 0), '%s').exp()" % (nn, mode), "p = pad w [1,2,1,0] str:%s; y = exp p" % mode)
        yield graded({"w": ((2, 2, 4), F, True, "dense")}, "y = %spad(w, (1, 2), '%s').exp()" % (nn, mode), "p = pad w [1,2] str:%s; y = exp p" % mode)
    yield graded({"w": im}, "y = %sunfold(w, 2, padding=1).exp()" % nn, "u = im2col w [2,2] [1,1] [1,1] [1,1]; y = exp u")
    yield graded({"w": ((1, 8, 6), F, True, "dense")}, "y = %sfold(w, (3, 4), 2).exp()" % nn, "u = col2im w [3,4] [2,2] [1,1] [0,0] [1,1]; y = exp u")
    yield graded({"w": ((1, 4, 2, 3), F, True, "dense")}, "y = %spixel_shuffle(w, 2).exp()" % nn, "u = pixel_shuffle w 2; y = exp u")
    yield {"a": ((1, 1, 4, 6), F, False, "dense")}, "y = %spixel_unshuffle(a, 2)" % nn, "y = pixel_unshuffle a 2"
    yield graded({"w": im}, "y = %sadaptive_max_pool2d(w, (2, 3)).exp()" % nn, "p,i = adaptive_max_pool2d w [2,3]; y = exp p")
    for mode in range(3):
        yield graded({"w": im, "g": ((1, 2, 3, 2), F, True, "small")}, "y = %sgrid_sample(w, g, padding_mode='%s', align_corners=%s)" % (nn, ("zeros", "border", "reflection")[mode], mode == 1),
                     "y = grid_sampler w g 0 %d %s" % (mode, mode == 1))
    yield graded({"w": ((1, 2, 3), F, True, "dense")}, "y = %saffine_grid(w, (1, 2, 3, 4), align_corners=False).exp()" % nn, "u = affine_grid_generator w [1,2,3,4] False; y = exp u")
    yield graded({"w": im, "t": ((1, 3, 4), I, False, "zero")}, "y = %scross_entropy(w, t)" % nn, "y = cross_entropy_loss w t")
    yield graded({"w": ((2, 3, 4), F, True, "dense"), "t": ((2, 4), I, False, "zero")}, "y = %scross_entropy(w, t, reduction='none')" % nn, "y = cross_entropy_loss w t None 0")


def places():
    zero = ((2, 3), I, False, "zero")
    yield graded({"w": W, "i": ((2,), I, False, "zero")}, "y = torch.take(w, i)", "y = take w i")
    yield graded({"w": W, "i": ((2,), I, False, "zero"), "v": ((2,), F, True, "dense")}, "y = torch.put(w, i, v, True)", "y = put w i v True")
    for reduce in ("sum", "mean", "amax", "prod"):
        yield graded({"w": W, "i": zero, "v": W}, "y = torch.scatter_reduce(w, 1, i, v, '%s')" % reduce, "y = scatter_reduce.two w 1 i v str:%s" % reduce)
    yield graded({"w": W, "i": zero, "v": W}, "y = torch.scatter_reduce(w, 1, i, v, 'amin', include_self=False)", "y = scatter_reduce.two w 1 i v str:amin False")
    yield {"a": A, "i": zero, "b": A}, "a.scatter_(1, i, b, reduce='add'); a.scatter_(1, i, 2.0, reduce='multiply')", "a = scatter_.reduce a 1 i b str:add; a = scatter_.value_reduce a 1 i 2.0 str:multiply"
    yield graded({"w": W, "i": ((2,), I, False, "zero"), "v": ((), F, True, "dense")}, "y = w.index_fill(1, i, v)", "y = index_fill.int_Tensor w 1 i v")
    yield graded({"w": W, "i": ((2,), I, False, "dense")}, "k = i.abs()\ny = torch.repeat_interleave(w, k, 0)", "k = abs i; y = repeat_interleave.self_Tensor w k 0")
    yield {"m": M}, "y, z = torch.where(m); p, q = m.nonzero(as_tuple=True)", "y,z = where m; p,q = nonzero_numpy m"
    yield graded({"w": W}, "y = torch.take_along_dim(w, w.argsort(1), 1)", "i = argsort w 1; y = take_along_dim w i 1")


def blocks():
    square = ((3, 3), F, True, "dense")
    for k in (1, 2, -1):
        yield graded({"w": W}, "y = torch.rot90(w, %d).exp()" % k, "u = rot90 w %d [0,1]; y = exp u" % k)
    yield graded({"w": W, "v": V}, "y = torch.kron(w, v)", "y = kron w v")
    yield graded({"w": W, "v": V}, "y = torch.block_diag(w, v).exp()", "u = block_diag [w,v]; y = exp u")
    yield {"v": V}, "y = torch.combinations(v); z = torch.combinations(v, 2, True)", "y = combinations v; z = combinations v 2 True"
    yield graded({"v": V}, "y = torch.diagflat(v).exp()", "u = diagflat v; y = exp u")
    yield graded({"w": square}, "y = w * 1\ny.fill_diagonal_(2.0)", "n = number 1; y = mul.Tensor w n; y = fill_diagonal_ y 2.0")
    yield {"a": ((8, 3), F, False, "dense")}, "a.fill_diagonal_(9.0, wrap=True)", "a = fill_diagonal_ a 9.0 True"
    yield graded({"w": square, "v": V}, "y = torch.select_scatter(w, v, 0, 1).exp()", "u = select_scatter w v 0 1; y = exp u")
    yield graded({"w": square, "v": W}, "y = torch.slice_scatter(w, v, 0, 0, 2).exp()", "u = slice_scatter w v 0 0 2; y = exp u")
    yield graded({"w": square, "v": V}, "y = torch.diagonal_scatter(w, v).exp()", "u = diagonal_scatter w v; y = exp u")
    yield graded({"w": W, "v": W}, "y = torch.dstack([w, v]).exp()", "u = dstack [w,v]; y = exp u")
    yield {"a": ((4, 4), F, False, "dense")}, "y, z = torch.hsplit(a, 2); p, q = torch.vsplit(a, [1])", "y,z = hsplit.int a 2; p,q = vsplit.array a [1]"
    yield graded({"w": W}, "y = w.sum_to_size(1, 3)", "y = sum_to_size w [1,3]")
    yield graded({"w": square, "v": V, "u": V}, "y = torch.addr(w, v, u, beta=0.5, alpha=2)", "y = addr w v u 0.5 2")
    yield graded({"w": square, "v": ((2, 3, 3), F, True, "dense")}, "y = torch.addbmm(w, v, v)", "y = addbmm w v v")
    yield graded({"w": ((4,), F, True, "dense")}, "y, = torch.gradient(w)", "y = gradient.scalarint w")
    yield {"a": A}, "y = torch.atleast_3d(a)", "y = atleast_3d a"
    yield {"a": A}, "torch.manual_seed(3); y = torch.randint_like(a, 5)", "seed 3; push factory; y = randint_like a 5; pop"


def spectra():
    signal = ((2, 6), F, True, "dense")
    c, z = ((3, 4), "complex64", False, "dense"), ((2, 6), "complex128", False, "dense")
    for name, arguments, words in (("fft", "", ""), ("fft", ", 5", " 5"), ("ifft", ", norm='ortho'", " None -1 str:ortho")):
        yield {"c": c, "z": z}, "y = torch.fft.%s(c%s); x = torch.fft.%s(z)" % (name, arguments, name), "y = fft_%s c%s; x = fft_%s z" % (name, words, name)
    yield {"c": c}, "y = torch.fft.fftn(c); z = torch.fft.ifft2(c); x = torch.fft.fftshift(c)", "y = fft_fftn c; z = fft_ifft2 c; x = fft_fftshift c"
    yield {"a": ((2, 5), F, False, "dense"), "c": c}, "y = torch.fft.rfft(a); z = torch.fft.irfft(c); x = torch.fft.rfft2(a)", "y = fft_rfft a; z = fft_irfft c; x = fft_rfft2 a"
    for look in ("dense", "t", "s"):  # how results lie in memory
        for dims in ("0", "1", "0,2", "2,0", "1,0,2"):
            n = ", ".join(dims.split(",")) + ","
            yield ({"a": ((2, 3, 4), F, False, look)}, "y = torch.fft.fftn(a, dim=(%s)); z = torch.fft.rfftn(a, dim=(%s)); x = torch.fft.irfftn(y, dim=(%s))" % (n, n, n),
                   "y = fft_fftn a None [%s]; z = fft_rfftn a None [%s]; x = fft_irfftn y None [%s]" % (dims, dims, dims))
    yield graded({"w": signal}, "u = torch.fft.rfft(w)\ny = torch.fft.irfft(u, 6)", "u = fft_rfft w; y = fft_irfft u 6")
    yield graded({"w": signal}, "u = torch.fft.rfft(w)\ny = u.abs()", "u = fft_rfft w; y = abs u")
    yield {}, "y = torch.fft.fftfreq(5, 0.5); z = torch.fft.rfftfreq(6)", "push factory; y = fft_fftfreq 5 0.5; z = fft_rfftfreq 6; pop"
    yield {"a": A, "b": A}, "y = torch.polar(a, b); z = y.sgn()", "y = polar a b; z = sgn y"
    yield {"a": ((3, 2), F, False, "dense")}, "y = torch.view_as_complex(a)", "y = view_as_complex a"


def layers():
    yield graded({"w": W, "v": V}, "y = torch.nn.functional.rms_norm(w, (3,), v)", "y = rms_norm w [3] v")
    yield graded({"w": W}, "y = torch.nn.functional.rms_norm(w, (3,), eps=0.5)", "y = rms_norm w [3] None 0.5")
    yield graded({"w": ((2, 3, 5), F, True, "dense"), "k": ((3, 2, 3), F, True, "dense")}, "y = torch.nn.functional.conv_transpose1d(w, k, stride=2)", "y = conv_transpose1d w k None [2]")
    yield {}, "y = torch.tril_indices(3, 4, -1); z = torch.triu_indices(3, 4)", "push factory; y = tril_indices 3 4 -1; z = triu_indices 3 4; pop"
    yield {}, "y = torch.logspace(0, 2, 5); z = torch.logspace(1, 3, 3, 2)", "push factory; y = logspace 0 2 5; z = logspace 1 3 3 2; pop"


def signals():
    yield {}, "y = torch.hann_window(7, periodic=False); z = torch.hann_window(4); x = torch.hann_window(1)", "push factory; y = hann_window.periodic 7 False; z = hann_window 4; x = hann_window 1; pop"
    yield {}, "y = torch.hamming_window(6, True, 0.5, 0.4); z = torch.hamming_window(3)", "push factory; y = hamming_window.periodic_alpha_beta 6 True 0.5 0.4; z = hamming_window 3; pop"
    yield {}, "y = torch.blackman_window(6); z = torch.bartlett_window(7, False)", "push factory; y = blackman_window 6; z = bartlett_window.periodic 7 False; pop"
    yield {}, "y = torch.hann_window(-1)", "push factory; y = hann_window -1; pop"
    yield {"c": ((3, 4), "complex64", False, "dense")}, "y = torch.angle(c)", "y = angle c"


def margins():
    target = ((2,), I, False, "zero")
    for reduction in range(3):
        words = "reduction='%s'" % ("none", "mean", "sum")[reduction]
        yield graded({"w": W, "t": target}, "y = torch.nn.functional.multi_margin_loss(w, t, %s)" % words, "y = multi_margin_loss w t 1 1.0 None %d" % reduction)
        yield graded({"w": W, "a": A}, "y = torch.nn.functional.soft_margin_loss(w, a, %s)" % words, "y = soft_margin_loss w a %d" % reduction)
    yield graded({"w": X, "t": target, "v": ((3,), D, False, "dense")}, "y = torch.nn.functional.multi_margin_loss(w, t, 2, 0.5, v)", "y = multi_margin_loss w t 2 0.5 v")
    yield {"w": W, "t": ((3,), I, False, "zero")}, "y = torch.nn.functional.multi_margin_loss(w, t)", "y = multi_margin_loss w t"


def draws():
    yield {"a": A}, "torch.manual_seed(5); b = a.abs(); y = torch._standard_gamma(b); z = torch._sample_dirichlet(b)", "seed 5; b = abs a; y = _standard_gamma b; z = _sample_dirichlet b"
    yield {"a": A}, "torch.manual_seed(5); b = a.abs(); y = torch.poisson(b); c = b * 30; z = torch.poisson(c)", "seed 5; b = abs a; y = poisson b; n = number 30; c = mul.Tensor b n; z = poisson c"


def small_numbers():
    for dtype in ("int8", "uint8", "int16"):
        yield {"k": K, "i": ((2, 2), I, False, "zero")}, "s = k.to(torch.%s); a = torch.bitwise_and(s, s); b = s.max(); c = s.argmax(1); d = s.clamp(1); e, f = s.sort(1); g = s.gather(1, i); h = torch.isin(s, s)" % dtype, \
            "s = to.dtype k dtype:%s; a = bitwise_and.Tensor s s; b = max s; c = argmax s 1; d = clamp s 1; e,f = sort s 1; g = gather s 1 i; h = isin.Tensor_Tensor s s" % dtype


def without_formulas():
    square = ((3, 3), F, True, "dense")
    yield {"w": W}, "y = torch.unique(w)\ny.sum().backward()", "y,i,c = _unique2 w; s = sum y; backward s"
    yield {"w": W}, "y = w * 9\ny.acosh_()\ny.sum().backward()", "n = number 9; y = mul.Tensor w n; y = acosh_ y; s = sum y; backward s"
    yield graded({"w": W, "i": ((2, 2), I, False, "zero")}, "j = i.select(1, 0)\ny = w.index_select(0, j)", "j = select.int i 1 0; y = index_select w 0 j")
    yield graded({"w": square}, "y = torch.matrix_power(w, 5)", "y = matrix_power w 5")


def convolutions():
    image = ((2, 3, 4, 4), F, True, "dense")
    for call, kernel, options in (("conv2d", (2, 3, 1, 1), 1), ("conv2d", (2, 3, 2, 2), 2), ("conv_transpose2d", (3, 2, 2, 2), 2)):
        ours = "conv_transpose2d.input" if call != "conv2d" else call
        yield graded({"w": image, "k": (kernel, F, True, "dense")}, "y = torch.nn.functional.%s(w, k, stride=%d)" % (call, options), "y = %s w k None [%d,%d]" % (ours, options, options))


def cases():
    for part in (in_place, out_arguments, functions, halves, linear_algebra, ranks, pictures, places, blocks, spectra, layers, signals, margins, draws, small_numbers, without_formulas, convolutions):
        yield from part()
