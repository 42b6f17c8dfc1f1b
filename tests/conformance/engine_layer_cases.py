"""Operators of layers over volumes, of lists of classes and bags of rows, factors of matrices, draws and signals, as engine_cases has them."""
from engine_cases import B, D, F, I
from engine_more_cases import A, W, graded
from engine_wide_cases import BATCH, N, POSITIVE, REGULAR, Z

NN, CNN = "torch.nn.functional.", "torch._C._nn."
# Not equal yet, as engine_breadth_cases has it.
KNOWN = {
    "matrix_exp(": ("hops", "stock's polynomials of several degrees"), "_standard_gamma(": ("values", "exact gradients where stock has approximations"),
}


def pooling():
    for shape in ((2, 4, 3, 5), (1, 2, 4, 3, 5)):
        x = shape, F, True, "small"
        yield graded({"x": x}, "y = %smax_pool3d(x, 2).exp()" % NN, "p = max_pool3d x [2] [2] [0] [1] False; y = exp p")
        yield graded({"x": x}, "y = %smax_pool3d(x, (2, 1, 2), (1, 2, 1), (1, 0, 0), (1, 1, 2), True).exp()" % NN, "p = max_pool3d x [2,1,2] [1,2,1] [1,0,0] [1,1,2] True; y = exp p")
        yield graded({"x": x}, "y = %savg_pool3d(x, 2, padding=1).exp()" % CNN, "p = avg_pool3d x [2] [] [1]; y = exp p")
        yield graded({"x": x}, "y = %savg_pool3d(x, (2, 1, 3), 2, (1, 0, 1), True, False).exp()" % CNN, "p = avg_pool3d x [2,1,3] [2] [1,0,1] True False; y = exp p")
        yield graded({"x": x}, "y = %savg_pool3d(x, 2, divisor_override=3).exp()" % CNN, "p = avg_pool3d x [2] [] [0] False True 3; y = exp p")
        yield graded({"x": x}, "y = %sadaptive_avg_pool3d(x, (2, 3, 4)).exp()" % NN, "p = adaptive_avg_pool3d x [2,3,4]; y = exp p")
        yield graded({"x": x}, "y = %sadaptive_avg_pool3d(x, 1).exp()" % NN, "p = adaptive_avg_pool3d x [1,1,1]; y = exp p")
        yield graded({"x": x}, "p, i = %sadaptive_max_pool3d(x, (2, 3, 2))\ny = p.exp()" % CNN, "p,i = adaptive_max_pool3d x [2,3,2]; y = exp p")
    yield {"x": ((2, 4, 3, 5), D, False, "t")}, "y, i = %smax_pool3d_with_indices(x, 2)" % CNN, "y,i = max_pool3d_with_indices x [2]"
    x = ((1, 2, 2, 2), F, False, "small")
    for call, ours in (("0", "[0]"), ("3", "[3]"), ("2, padding=2", "[2] [] [2]")):
        yield {"x": x}, "y, i = %smax_pool3d_with_indices(x, %s)" % (CNN, call), "y,i = max_pool3d_with_indices x %s" % ours
        yield {"x": x}, "y = %savg_pool3d(x, %s)" % (CNN, call), "y = avg_pool3d x %s" % ours
    yield {"a": A}, "y = %savg_pool3d(a, 1)" % CNN, "y = avg_pool3d a [1]"
    plane = ((1, 2, 4, 4), F, True, "small")
    yield graded({"x": plane}, "p, i = %smax_pool2d(x, 2, return_indices=True)\ny = %smax_unpool2d(p, i, 2).exp()" % (NN, NN),
                 "p,i = max_pool2d_with_indices x [2] [2] [0] [1] False; u = max_unpool2d p i [4,4]; y = exp u")
    yield {"x": ((1, 2, 4), F, False, "small")}, "y, i = torch.max_pool1d_with_indices(x, 2)", "y,i = max_pool1d_with_indices x [2]"
    yield graded({"x": ((2, 4, 3), F, True, "small")}, "y = torch.channel_shuffle(x, 2).exp()", "c = channel_shuffle x 2; y = exp c")
    yield {"x": ((2, 3, 3), F, False, "small")}, "y = torch.channel_shuffle(x, 2)", "y = channel_shuffle x 2"


def convolutions():
    """One case for each of the paths that the shapes lead to."""
    for dtype in (F, D):
        for n in (1, 2):
            for size, kernel in (((3, 4, 3), (2, 2, 2)), ((3, 3, 3), (1, 1, 1))):
                x, w, b = ((n, 2, *size), dtype, True, "small"), ((3, 2, *kernel), dtype, True, "small"), ((3,), dtype, True, "small")
                yield graded({"x": x, "w": w, "b": b}, "y = torch.conv3d(x, w, b).exp()", "c = conv3d x w b; y = exp c")
                yield graded({"x": x, "w": w}, "y = torch.conv3d(x, w, None, (1, 2, 1), 1).exp()", "c = conv3d x w None [1,2,1] [1]; y = exp c")
                t = ((2, 3, *kernel), dtype, True, "small")
                yield graded({"x": x, "t": t, "b": b}, "y = torch.conv_transpose3d(x, t, b).exp()", "c = conv_transpose3d.input x t b; y = exp c")
                yield graded({"x": x, "t": t}, "y = torch.conv_transpose3d(x, t, None, 2, 1, 1).exp()", "c = conv_transpose3d.input x t None [2] [1] [1]; y = exp c")
            x, t, b = ((n, 2, 3, 4), dtype, True, "small"), ((2, 3, 2, 2), dtype, True, "small"), ((3,), dtype, True, "small")
            yield graded({"x": x, "t": t, "b": b}, "y = torch.conv_transpose2d(x, t, b).exp()", "c = conv_transpose2d.input x t b; y = exp c")
            yield graded({"x": x, "t": t}, "y = torch.conv_transpose2d(x, t, None, 2, 1, 1).exp()", "c = conv_transpose2d.input x t None [2] [1] [1]; y = exp c")
            yield graded({"x": ((n, 2, 4), dtype, True, "small"), "t": ((2, 3, 2), dtype, True, "small"), "b": b}, "y = torch.conv_transpose1d(x, t, b, 2).exp()",
                         "c = conv_transpose1d x t b [2]; y = exp c")
            yield graded({"x": ((n, 2, 5, 5), dtype, True, "small"), "w": ((3, 2, 2, 2), dtype, True, "small"), "b": b}, "y = torch.conv2d(x, w, b, dilation=2).exp()",
                         "c = conv2d x w b [1] [0] [2]; y = exp c")
            yield graded({"x": ((n, 2, 5, 5), dtype, True, "small"), "w": ((4, 1, 2, 2), dtype, True, "small")}, "y = torch.conv2d(x, w, groups=2).exp()",
                         "c = conv2d x w None [1] [0] [1] 2; y = exp c")
            yield graded({"x": ((n, 2, 3, 3), dtype, True, "small"), "w": ((2, 2, 2, 2), dtype, True, "small"), "b": ((4,), dtype, True, "small")},
                         "y = torch.conv_transpose2d(x, w, b, groups=2).exp()", "c = conv_transpose2d.input x w b [1] [0] [0] 2; y = exp c")
    wide = ((1, 2, 5, 5, 5), D, True, "small")
    yield graded({"x": wide, "w": ((2, 2, 2, 2, 2), D, True, "small")}, "y = torch.conv3d(x, w, dilation=2).exp()", "c = conv3d x w None [1] [0] [2]; y = exp c")
    yield graded({"x": ((2, 3, 3, 3), F, True, "small"), "w": ((2, 2, 3, 3, 3), F, True, "small")}, "y = torch.conv3d(x, w, padding='same').exp()", "c = conv3d.padding x w None [1] str:same; y = exp c")
    # Gradients of some only.
    yield {"x": ((2, 2, 5, 5), D, False, "small"), "w": ((3, 2, 2, 2), D, True, "small"), "b": ((3,), D, True, "small")}, \
        "y = torch.conv2d(x, w, b, dilation=2)\nq = y.sum()\nq.backward()", "y = conv2d x w b [1] [0] [2]; q = sum y; backward q"
    yield {"x": ((2, 2, 5, 5), D, True, "small"), "w": ((3, 2, 2, 2), D, False, "small")}, "y = torch.conv2d(x, w, dilation=2)\nq = y.sum()\nq.backward()", \
        "y = conv2d x w None [1] [0] [2]; q = sum y; backward q"
    yield {"x": ((2, 2, 3, 3, 3), D, False, "small"), "w": ((2, 2, 2, 2, 2), D, True, "small")}, "y = torch.conv_transpose3d(x, w)\nq = y.sum()\nq.backward()", \
        "y = conv_transpose3d.input x w; q = sum y; backward q"
    yield {"x": ((2, 2, 3, 3, 3), D, False, "small"), "w": ((2, 2, 2, 2, 2), D, True, "small")}, "y = torch.conv_transpose3d(x, w[:1])", "s = slice.Tensor w 0 0 1; y = conv_transpose3d.input x s"


def lists():
    p = ((6, 2, 4), F, True, "dense")
    logs, ours = "l = torch.log_softmax(p, 2)\n", "l = log_softmax.int p 2; "
    k = "k = torch.ones(2, 3, dtype=torch.int64)\n", "push factory; k = ones [2,3] dtype:int64; pop; "
    for reduction, number in (("mean", 1), ("sum", 2)):
        yield {"p": p}, k[0] + logs + "y = %sctc_loss(l, k, (6, 5), (3, 2), reduction='%s', zero_infinity=True)\ny.backward()" % (NN, reduction), \
            k[1] + ours + "y = ctc_loss.IntList l k [6,5] [3,2] 0 %d True; backward y" % number
    yield graded({"p": p}, k[0] + logs + "y = %sctc_loss(l, k, (6, 5), (3, 2), 2, 'none').exp()" % NN, k[1] + ours + "c = ctc_loss.IntList l k [6,5] [3,2] 2 0 False; y = exp c")
    yield {"p": p}, k[0] + logs + "y = %sctc_loss(l, k, (6, 2), (3, 3))\ny.backward()" % NN, k[1] + ours + "y = ctc_loss.IntList l k [6,2] [3,3] 0 1 False; backward y"
    for lengths in ("[6,5,4] [3,2]", "[6,7] [3,2]", "[6,5] [3,4]", "[6,5] [3,2] 9"):
        call = ", ".join("(%s)" % part[1:-1] if part[0] == "[" else part for part in lengths.split())
        yield {"p": p}, k[0] + logs + "y = %sctc_loss(l, k, %s)" % (NN, call), k[1] + ours + "y = ctc_loss.IntList l k " + lengths
    yield {"p": p, "t": ((2,), I, False, "dense")}, logs + "y = %sctc_loss(l, t.abs(), (6, 5), (1, 2))" % NN, ours + "a = abs t; y = ctc_loss.IntList l a [6,5] [1,2]"
    for reduction, number in (("none", 0), ("mean", 1), ("sum", 2)):
        for shape in ((2, 4), (4,)):
            yield graded({"w": (shape, F, True, "dense"), "t": (shape, I, False, "zero")}, "y = %smultilabel_margin_loss(w, t, %d).sum() * w" % (CNN, number),
                         "l = multilabel_margin_loss w t %d; s = sum l; y = mul.Tensor s w" % number)
    yield {"w": W, "t": ((2, 3), I, False, "dense")}, "y = %smultilabel_margin_loss(w, t)" % CNN, "y = multilabel_margin_loss w t"
    w, ix, off = ((5, 3), F, True, "dense"), ((6,), I, False, "zero"), ((2,), I, False, "zero")
    places, starts = "i = torch.arange(6) % 5\n", "push factory; r = arange 6; pop; i = remainder.Scalar r 5; "
    for dtype in (F, D):
        table = ((5, 3), dtype, True, "dense")
        for mode in range(3):
            for padding in ("None", "1"):
                yield graded({"w": table, "o": off}, places + "y = torch.embedding_bag(w, i, o + torch.arange(2) * 2, False, %d, False, None, False, %s)[0].exp()" % (mode, padding),
                             starts + "push factory; s = arange 2; pop; n = number 2; d = mul.Tensor s n; f = add.Tensor o d; b,x,y,z = embedding_bag.padding_idx w i f False %d False None False %s; y = exp b"
                             % (mode, padding))
        yield graded({"w": table, "o": off, "v": ((6,), dtype, True, "dense")}, places + "y = torch.embedding_bag(w, i, o, False, 0, False, v)[0].exp()",
                     starts + "b,x,y,z = embedding_bag w i o False 0 False v; y = exp b")
        yield graded({"w": table, "o": off}, places + "f = o + torch.arange(2) * 6\ny = torch.embedding_bag(w, i, f, True, 0, False, None, True)[0].exp()",
                     starts + "push factory; s = arange 2; pop; n = number 6; d = mul.Tensor s n; f = add.Tensor o d; b,x,y,z = embedding_bag w i f True 0 False None True; y = exp b")
    yield {"w": ((5, 3), F, False, "dense"), "o": off}, places + "y = torch.embedding_bag(w, i, o)[0]", starts + "y,a,b,c = embedding_bag w i o"
    yield {"w": w, "o": off}, places + "y = torch.embedding_bag(w, i, o + 1)[0]", starts + "n = number 1; p = add.Tensor o n; y,a,b,c = embedding_bag w i p"


def factors():
    for w in (N, BATCH):
        yield graded({"w": w}, REGULAR[0] + "\nP, L, U = torch.linalg.lu(g)\ny = L.exp() * U", REGULAR[1] + "; P,L,U = linalg_lu g; e = exp L; y = mul.Tensor e U")
        yield graded({"w": w, "v": Z}, REGULAR[0] + "\nf, p = torch.linalg.lu_factor(g)\ny = torch.linalg.lu_solve(f, p, v)", REGULAR[1] + "; f,p = linalg_lu_factor g; y = linalg_lu_solve f p v") \
            if w is N else ({"w": w}, REGULAR[0] + "\nf, p = torch.linalg.lu_factor(g)\nP, L, U = torch.lu_unpack(f, p)", REGULAR[1] + "; f,p = linalg_lu_factor g; P,L,U = lu_unpack f p")
        yield graded({"w": w}, POSITIVE[0] + "\nl = torch.linalg.cholesky(s)\ny = torch.cholesky_inverse(l)", POSITIVE[1] + "; l = linalg_cholesky s; y = cholesky_inverse l")
        yield graded({"w": w}, "y = torch.linalg.matrix_exp(w / 4)", "n = number 4; d = div.Tensor w n; y = linalg_matrix_exp d")
    for shape in ((2, 3), (3, 2)):
        w = shape, D, True, "dense"
        yield graded({"w": w}, "P, L, U = torch.linalg.lu(w)\ny = L.sum() * U", "P,L,U = linalg_lu w; s = sum L; y = mul.Tensor s U")
        yield graded({"w": w}, "P, L, U = torch.linalg.lu(w)\ny = U.exp()", "P,L,U = linalg_lu w; y = exp U")
        yield graded({"w": w}, "P, L, U = torch.linalg.lu(w)\ny = L.exp()", "P,L,U = linalg_lu w; y = exp L")
        yield graded({"w": w}, "f, p, i = torch.linalg.lu_factor_ex(w)\ny = f.exp()", "f,p,i = linalg_lu_factor_ex w; y = exp f")
        yield graded({"w": w}, "f, p, i = torch.linalg.lu_factor_ex(w)\nP, L, U = torch.lu_unpack(f, p)\ny = L.exp()", "f,p,i = linalg_lu_factor_ex w; P,L,U = lu_unpack f p; y = exp L")
    square = ((3, 3), D, False, "dense")
    for options, ours in (("left=False, adjoint=True", "False True"), ("adjoint=True", "True True")):
        yield graded({"w": N, "v": N}, REGULAR[0] + "\nf, p = torch.linalg.lu_factor(g)\ny = torch.linalg.lu_solve(f, p, v, %s)" % options,
                     REGULAR[1] + "; f,p = linalg_lu_factor g; y = linalg_lu_solve f p v " + ours)
    yield {"w": square, "v": square}, REGULAR[0] + "\nf, p = torch.linalg.lu_factor(g)\ny = torch.lu_solve(v, f, p)", REGULAR[1] + "; f,p = linalg_lu_factor g; y = lu_solve v f p"
    yield {"w": square}, "v = torch.linalg.eigvals(w)", "v = linalg_eigvals w"
    yield {"w": ((2, 3, 3), F, False, "dense")}, "v = torch.linalg.eigvals(w)", "v = linalg_eigvals w"
    yield {"w": square}, "s = w + w.mT\nv, x = torch._C._linalg.linalg_eig(s)", "t = mT w; s = add.Tensor w t; v,x = linalg_eig s"
    yield {"a": A}, "v = torch.linalg.eigvals(a)", "v = linalg_eigvals a"
    yield {"w": ((4, 3), D, False, "dense")}, "a, t = torch.geqrf(w)\nq = torch.linalg.householder_product(a, t)", "a,t = geqrf w; q = linalg_householder_product a t"
    for limits, ours in (("atol=1.0", "1.0 None"), ("rtol=0.5", "None 0.5"), ("atol=1.0, rtol=0.5", "1.0 0.5")):
        yield {"w": square}, "y = torch.linalg.matrix_rank(w, %s)" % limits, "y = linalg_matrix_rank.atol_rtol_float w %s" % ours
    u = ((3,), D, True, "dense")
    yield graded({"u": u}, "y = torch.linalg.vander(u)", "y = linalg_vander u")
    yield {"u": ((3,), F, False, "dense")}, "y = torch.vander(u, 4); z = torch.vander(u, increasing=True)", "y = vander u 4 False; z = vander u None True"


def draws():
    for name, call, ours in (("cauchy_", "1.0, 2.0", "1.0 2.0"), ("geometric_", "0.25", "0.25"), ("log_normal_", "0.5, 0.25", "0.5 0.25")):
        yield {"a": A}, "torch.manual_seed(5); a.%s(%s)" % (name, call), "seed 5; a = %s a %s" % (name, ours)
    yield {"a": A}, "a.geometric_(1.5)", "a = geometric_ a 1.5"
    for name in ("dropout_", "alpha_dropout_", "feature_dropout_", "feature_alpha_dropout_"):
        yield {"a": A}, "torch.manual_seed(5); torch.%s(a, 0.5, True)" % name, "seed 5; a = %s a 0.5 True" % name
        yield graded({"w": W}, "torch.manual_seed(5); y = w * 1\ntorch.%s(y, 0.25, True)" % name, "seed 5; n = number 1; y = mul.Tensor w n; y = %s y 0.25 True" % name)
        yield {"a": A}, "torch.%s(a, 1.0, True)" % name, "a = %s a 1.0 True" % name
    yield graded({"w": W}, "torch.manual_seed(5); y = torch.feature_alpha_dropout(w, 0.5, True)", "seed 5; y = feature_alpha_dropout w 0.5 True")
    yield {"w": ((2, 3), D, True, "dense")}, "torch.manual_seed(5); a = w.exp()\ny = torch._standard_gamma(a)\nq = y.sum()\nq.backward()", "seed 5; a = exp w; y = _standard_gamma a; q = sum y; backward q"
    yield {"o": ((2,), F, False, "dense")}, "torch.manual_seed(5); torch.rand(2, 2, out=o); torch.randn(2, 3, out=o); torch.randint(9, (4,), out=o); torch.randint(2, 9, (3,), out=o)", \
        "seed 5; o = rand.out [2,2] o; o = randn.out [2,3] o; o = randint.out 9 [4] o; o = randint.low_out 2 9 [3] o"
    yield {"z": ((9,), "complex64", False, "dense")}, "torch.manual_seed(5); z.normal_()", "seed 5; z = normal_ z"


def signals():
    x, w = ((2, 16), D, True, "small"), ((4,), D, False, "small")
    yield graded({"x": x, "w": w}, "s = torch._C._VariableFunctions.stft(x, 4, 1, 4, w, False, return_complex=True)\ny = s.abs()", "s = stft.center x 4 1 4 w False str:reflect False None True; y = abs s")
    yield {"x": ((16,), F, False, "small")}, "y = torch._C._VariableFunctions.stft(x, 8, 2, 4, None, True, 'reflect', True, return_complex=True)", "y = stft.center x 8 2 4 None True str:reflect True None True"
    yield {"x": ((16,), F, False, "small")}, "y = torch._C._VariableFunctions.stft(x, 4, return_complex=False)", "y = stft.center x 4 None None None True str:reflect False None False"
    for call, ours in (("32, return_complex=True", "32 None None None True str:reflect False None True"), ("4, 0, return_complex=True", "4 0 None None True str:reflect False None True"), ("4", "4")):
        yield {"x": ((16,), F, False, "small")}, "y = torch._C._VariableFunctions.stft(x, %s)" % call, "y = stft.center x %s" % ours
    z = ((3, 5), "complex64", False, "dense")
    yield {"z": z}, "y = torch.istft(z, 4)", "y = istft z 4"
    yield {"z": z, "w": ((4,), F, False, "dense")}, "y = torch.istft(z, 4, window=w.abs() + 1, length=3)", "a = abs w; n = number 1; b = add.Tensor a n; y = istft z 4 None None b True False None 3"
    yield {"z": z}, "y = torch.istft(z, 8)", "y = istft z 8"


def other_types():
    for dtype in ("int32", "int64", "float64", "float32", "uint8", "complex64"):
        yield {"a": A}, "y = a.view(torch.%s)" % dtype, "y = view.dtype a dtype:%s" % dtype
    yield {"a": ((2, 4), F, False, "dense")}, "y = a.view(torch.float64)\ny.zero_()", "y = view.dtype a dtype:float64; y = zero_ y"
    for look in ("t", "s"):
        yield {"a": ((2, 4), F, False, look)}, "y = a.view(torch.float64)", "y = view.dtype a dtype:float64"
    yield {"a": ((), F, False, "dense")}, "y = a.view(torch.float64)", "y = view.dtype a dtype:float64"
    yield {"m": ((2, 3), B, False, "dense")}, "y = m.view(torch.uint8)", "y = view.dtype m dtype:uint8"


def cases():
    for part in (pooling, convolutions, lists, factors, draws, signals, other_types):
        yield from part()
