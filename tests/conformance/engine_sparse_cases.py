"""Operators on sparse tensors, as engine_cases has them. Looks of inputs: coo (`coo:1`: one sparse dimension), twice (each coordinate two times, not in order), csr, csc."""
from engine_cases import B, D, F, I
from engine_more_cases import graded

S, R = ((3, 4), F, True, "coo"), ((3, 4), F, True, "csr")       # with a gradient
P, Q, M = ((3, 4), F, False, "coo"), ((3, 4), F, False, "twice"), ((3, 4), F, False, "csr")
H = ((3, 4, 2), F, False, "coo:1")                               # hybrid: one sparse dimension, two dense ones
C = ((3, 4), F, False, "csc")
X, Y = ((4, 2), F, True, "small"), ((3, 4), F, True, "small")
PLAIN = ((3, 4), F, False, "dense")
# Not equal yet: words of the call -> in what, and why.
KNOWN = {
    "y = x.select(0, 1)\nd = y": ("hops errors", "select_backward has no kernel for a sparse gradient in stock"),
    "y = x / ": ("hops errors", "division of compressed rows is refused by a kernel in stock"),
    "x /= 2 [coo]": ("hops", "an integer divided in place is refused before it is converted in stock"),
    "y = torch.log1p(x)\nd": ("hops values errors", "the gradient of log1p of a sparse tensor"),
    "y = torch.sgn(x)\nd": ("hops values errors", "the gradient of sgn of a sparse tensor"),
    "y = x.sparse_mask(m)\nd": ("hops", "the gradient of sparse_mask is no projection yet"),
    "y = torch.sparse.mm(s, z)\nd": ("hops values errors", "the gradient of a product of two sparse tensors"),
}
# Functions that leave 0 at 0.
ONE = ("abs", "sqrt", "sin", "tan", "asin", "atan", "sinh", "tanh", "expm1", "log1p", "erf", "ceil", "floor", "round", "trunc", "sign", "relu", "neg", "asinh", "atanh", "deg2rad",
       "rad2deg", "erfinv", "frac", "sgn")
QUESTIONS = ("isnan", "isinf", "isposinf", "isneginf", "signbit")


def through(inputs, python, ours):
    """Backward from a sparse result."""
    return inputs, python + "\nd = y.to_dense().exp()\nq = d.sum()\nq.backward()", ours + "; t = to_dense y; d = exp t; q = sum d; backward q"


def making():
    i, v = ((2, 3), I, False, "zero"), ((3,), F, True, "dense")
    new = "sparse_coo_tensor.indices_size i v "
    yield through({"i": i, "v": v}, "y = torch.ops.aten._sparse_coo_tensor_unsafe(i, v, (2, 3))", "y = _sparse_coo_tensor_unsafe i v [2,3]")
    yield {"i": i, "v": ((3, 2), F, False, "dense")}, "y = torch.ops.aten._sparse_coo_tensor_unsafe(i, v, (2, 3, 2)).coalesce()", "c = _sparse_coo_tensor_unsafe i v [2,3,2]; y = coalesce c"
    for size in ("2", "2,3,4", "0,3"):
        yield {"i": i, "v": v}, "y = torch.ops.aten._sparse_coo_tensor_unsafe(i, v, (%s,))" % size, "y = _sparse_coo_tensor_unsafe i v [%s]" % size
    for wrong in (((3,), I, False, "zero"), ((2, 2), I, False, "zero"), ((2, 3), F, False, "dense")):
        yield {"i": wrong, "v": v}, "y = torch.ops.aten._sparse_coo_tensor_unsafe(i, v, (2, 3))", "y = _sparse_coo_tensor_unsafe i v [2,3]"
    yield {"a": Y}, "y = a.to_sparse()\nz = y.to_dense()", "y = to_sparse a; z = to_dense y"
    yield through({"a": Y}, "y = a.to_sparse()", "y = to_sparse a")
    yield through({"a": Y}, "y = a.to_sparse(1)", "y = to_sparse.sparse_dim a 1")
    for dtype in (D, I, B):
        yield {"a": ((3, 4), dtype, False, "t")}, "y = a.to_sparse()\nz = y.to_dense()", "y = to_sparse a; z = to_dense y"
        yield {"a": ((3, 4), dtype, False, "s")}, "y = a.to_sparse_csr()\nz = y.to_dense()", "y = to_sparse_csr a; z = to_dense y"
    for shape in ((), (0,), (2, 0), (5,), (2, 3, 4)):
        yield {"a": (shape, F, False, "zero")}, "y = a.to_sparse()\nz = y.to_dense()", "y = to_sparse a; z = to_dense y"
        yield {"a": (shape, F, False, "dense")}, "y = a.to_sparse()\nz = y.to_dense()", "y = to_sparse a; z = to_dense y"
    for call in ("0", "3", "-1"):
        yield {"a": PLAIN}, "y = a.to_sparse(%s)" % call, "y = to_sparse.sparse_dim a %s" % call
    yield {"p": P}, "y = p.to_sparse(1)", "y = to_sparse.sparse_dim p 1"
    for x in (P, Q, M, C, PLAIN):
        for name in ("to_sparse", "to_sparse_csr", "to_sparse_csc", "to_dense", "sparse_dim", "dense_dim"):
            yield {"x": x}, "y = x.%s()" % name, "y = %s x" % name
    for x in (S, R, ((3, 4), F, True, "csc")):
        yield through({"x": x}, "y = x * 2", "n = number 2; y = mul.Tensor x n")
        yield {"x": x}, "y = x.to_dense().exp()\nq = y.sum()\nq.backward()", "d = to_dense x; y = exp d; q = sum y; backward q"
    for name in ("to_sparse", "to_sparse_csr", "to_sparse_csc"):
        yield through({"x": S}, "y = x.%s()" % name, "y = %s x" % name)
        yield through({"x": R}, "y = x.%s()" % name, "y = %s x" % name)
        yield through({"a": Y}, "y = a.%s()" % name, "y = %s a" % name)
    for x in (H, ((3, 2), F, False, "coo:1")):
        yield {"x": x}, "y = x.to_dense()\nz = x.to_sparse_csr()", "y = to_dense x; z = to_sparse_csr x"


def parts():
    for x in (P, Q, H, M, C, PLAIN):
        for name in ("indices", "values", "crow_indices", "col_indices", "ccol_indices", "row_indices", "coalesce", "is_coalesced", "clone", "detach"):
            yield {"x": x}, "y = x.%s()" % name, "y = %s x" % name
        yield {"x": x}, "y = torch.zeros_like(x)", "push factory; y = zeros_like x None None None False; pop"
        if x is not PLAIN:
            yield {"x": x}, "torch.empty_like(x)._nnz()", "push factory; e = empty_like x None None None False; pop; n = _nnz e"
        for name in ("_indices", "_values", "_nnz") if x in (P, Q, H) else ("_nnz",) if x is not PLAIN else ():
            yield {"x": x}, "y = x.%s()" % name, "y = %s x" % name
    yield {"s": S}, "y = s.values().exp()\nq = y.sum()\nq.backward()", "v = values s; y = exp v; q = sum y; backward q"
    yield {"s": R}, "y = s.values().exp()\nq = y.sum()\nq.backward()", "v = values s; y = exp v; q = sum y; backward q"
    yield through({"s": ((3, 4), F, True, "twice")}, "y = s.coalesce()", "y = coalesce s")
    yield through({"s": S}, "y = s.clone()", "y = clone s")
    yield {"x": P}, "x._coalesced_(False)\ny = x.coalesce()", "x = _coalesced_ x False; y = coalesce x"
    for x, to in ((P, "float64"), (Q, "int64"), (M, "float64"), (H, "float64")):
        yield {"x": x}, "y = x.to(torch.%s)" % to, "y = to.dtype x dtype:%s" % to
    yield through({"s": S}, "y = s.to(torch.float64)", "y = to.dtype s dtype:float64")


def shapes():
    for x in (P, Q, H):
        yield {"x": x}, "y = x.t()", "y = t x"
        for d, e in ((0, 1), (1, 0), (0, 0), (1, 2), (0, -1)):
            yield {"x": x}, "y = x.transpose(%d, %d)" % (d, e), "y = transpose.int x %d %d" % (d, e)
        for d in (0, 1, 2, -1, 5):
            yield {"x": x}, "y = x.unsqueeze(%d)" % d, "y = unsqueeze x %d" % d
        for dims in ("1,0", "0,1", "0,2,1", "1,1", "0"):
            yield {"x": x}, "y = x.permute((%s,))" % dims, "y = permute x [%s]" % dims
        for d, i in ((0, 1), (1, 2), (-1, 0), (0, -1), (2, 1), (0, 7)):
            yield {"x": x}, "y = x.select(%d, %d)" % (d, i), "y = select.int x %d %d" % (d, i)
        for d in (0, 1, 2):
            yield {"x": x, "i": ((2,), I, False, "zero")}, "y = x.index_select(%d, i)" % d, "y = index_select x %d i" % d
        yield {"x": x, "i": ((2, 2), I, False, "zero")}, "y = x.index_select(0, i)", "y = index_select x 0 i"
        for d in (0, 1, -1, 3):
            yield {"x": x, "z": x}, "y = torch.cat([x, z], %d)" % d, "y = cat [x,z] %d" % d
    for x in (P, Q, H):
        for call in ("0, 1, 2", "1, 0, 3", "-1, 1, 1", "0, 2, 5", "2, 0, 1"):
            yield {"x": x}, "y = x.narrow_copy(%s)" % call, "y = narrow_copy x %s" % call.replace(",", "")
        yield {"x": x}, "y = torch.stack([x, x], 1)", "y = stack [x,x] 1"
    yield {"x": M}, "y = x.t()", "y = t x"
    yield {"x": M}, "y = x.transpose(0, 1)\nz = y.to_dense()", "y = transpose.int x 0 1; z = to_dense y"
    yield {"x": P, "a": PLAIN}, "y = torch.cat([x, a])", "y = cat [x,a]"
    yield {"x": P, "z": ((2, 3), F, False, "coo")}, "y = torch.cat([x, z])", "y = cat [x,z]"
    yield through({"x": S}, "y = x.t()", "y = t x")
    yield through({"x": S}, "y = x.unsqueeze(0)", "y = unsqueeze x 0")
    yield through({"x": S}, "y = x.select(0, 1)", "y = select.int x 0 1")
    yield through({"x": S, "i": ((2,), I, False, "zero")}, "y = x.index_select(0, i)", "y = index_select x 0 i")
    yield through({"x": S, "z": S}, "y = torch.cat([x, z])", "y = cat [x,z]")
    yield {"x": P}, "x.zero_()", "x = zero_ x"
    yield {"x": P, "z": Q}, "x.copy_(z)", "x = copy_ x z"
    yield {"x": P, "z": H}, "x.copy_(z)", "x = copy_ x z"
    yield {"x": P, "a": PLAIN}, "x.copy_(a)", "x = copy_ x a"
    yield {"x": P, "a": PLAIN}, "a.copy_(x)", "a = copy_ a x"
    yield {"x": P}, "x.sparse_resize_((4, 5), 2, 0)", "x = sparse_resize_ x [4,5] 2 0"
    yield {"x": P}, "x.sparse_resize_and_clear_((4, 5), 1, 1)", "x = sparse_resize_and_clear_ x [4,5] 1 1"
    yield {"x": P}, "x.sparse_resize_((4, 5), 1, 0)", "x = sparse_resize_ x [4,5] 1 0"


def sums():
    for x in (P, Q, H, M, ((3, 4), I, False, "coo"), ((3, 4), D, False, "twice")):
        yield {"x": x}, "y = x.sum()", "y = sum x"
        yield {"x": x}, "y = x.sum(dtype=torch.float64)", "y = sum x dtype:float64"
        for dim in ("0", "1", "-1", "0,1", "2", "1,1", "5"):
            dims = ",".join(dim.split(","))
            yield {"x": x}, "y = torch.sparse.sum(x, (%s,))" % dims, "y = _sparse_sum.dim x [%s]" % dims
            if x is not M:
                yield {"x": x}, "y = x.sum((%s,))" % dims, "y = sum.dim_IntList x [%s]" % dims
                yield {"x": x}, "y = x.sum((%s,), keepdim=True)" % dims, "y = sum.dim_IntList x [%s] True" % dims
        for p in ("2", "1") if x[1] == F and x is not M else ():
            yield {"x": x}, "y = torch._C._VariableFunctions.norm(x, %s)" % p, "y = norm.Scalar x %s" % p
            yield {"x": x}, "y = torch._C._VariableFunctions.norm(x, %s, [0])" % p, "y = norm.ScalarOpt_dim x %s [0]" % p
        yield {"x": x}, "y = torch.sparse.sum(x)", "y = _sparse_sum x"
        yield {"x": x}, "y = torch.sparse.sum(x, dtype=torch.float64)", "y = _sparse_sum.dtype x dtype:float64"
        if x is not M:
            yield {"x": x}, "y = torch.sparse.sum(x, (0,), dtype=torch.float64)", "y = _sparse_sum.dim_dtype x [0] dtype:float64"
    yield {"x": S}, "y = torch.sparse.sum(x)\ny.backward()", "y = _sparse_sum x; backward y"
    yield {"x": S}, "y = x.sum()\ny.backward()", "y = sum x; backward y"
    yield through({"x": S}, "y = torch.sparse.sum(x, (0,))", "y = _sparse_sum.dim x [0]")
    yield through({"x": S}, "y = torch.sparse.sum(x, (1,))", "y = _sparse_sum.dim x [1]")
    yield {"x": S}, "y = torch.sparse.sum(x, (0, 1))\ny.backward()", "y = _sparse_sum.dim x [0,1]; backward y"
    hybrid = ((3, 4, 2), F, True, "coo:1")
    for dim in ("1", "0", "1,2"):
        yield {"x": hybrid}, "y = torch.sparse.sum(x, (%s,))\nd = y.to_dense().exp()\nq = d.sum()\nq.backward()" % dim, "y = _sparse_sum.dim x [%s]; t = to_dense y; d = exp t; q = sum d; backward q" % dim
    for name in ("softmax", "log_softmax"):
        for x in (P, Q, H):
            for d in (0, 1, 2, -1):
                yield {"x": x}, "y = torch.sparse.%s(x, %d)" % (name, d), "y = _sparse_%s.int x %d" % (name, d)
        yield {"x": P}, "y = torch.sparse.%s(x, 1, dtype=torch.float64)" % name, "y = _sparse_%s.int x 1 dtype:float64" % name
        for d in (0, 1):
            yield through({"x": S}, "y = torch.sparse.%s(x, %d)" % (name, d), "y = _sparse_%s.int x %d" % (name, d))
            yield through({"x": ((3, 4, 2), F, True, "coo:1")}, "y = torch.sparse.%s(x, %d)" % (name, d), "y = _sparse_%s.int x %d" % (name, d))


def lines():
    """Compressed rows and columns."""
    for x in (M, C):
        yield {"x": x}, "x.zero_()", "x = zero_ x"
        yield {"x": x}, "x.fill_(2)", "x = fill_.Scalar x 2"
        yield {"x": x}, "z = x.clone()\nx.zero_()", "z = clone x; x = zero_ x"
        yield {"x": x}, "z = x.clone().fill_(3)\nx.copy_(z)", "z = clone x; z = fill_.Scalar z 3; x = copy_ x z"
        yield {"x": x}, "x *= 2", "n = number 2; x = mul_.Tensor x n"
        yield {"x": x}, "y = x * x", "y = mul.Tensor x x"
        for i in ("0", "2", "-1", "5"):
            yield {"x": x}, "y = x.select(0, %s)" % i, "y = select.int x 0 %s" % i
    yield {"x": M}, "x += x", "x = add_.Tensor x x 1"
    yield {"x": M, "a": PLAIN}, "y = x * a", "y = mul.Tensor x a"
    yield {"x": M}, "y = x.sum(1, keepdim=True)", "y = sum.dim_IntList x [1] True"
    yield {"x": M}, "y = x.sum(1)", "y = sum.dim_IntList x [1]"
    a, b = ((3, 2), F, True, "small"), ((2, 4), F, True, "small")
    yield {"x": M, "a": a, "b": b}, "y = torch.sparse.sampled_addmm(x, a.detach(), b.detach(), beta=0.5, alpha=2)", "c = detach a; d = detach b; y = sparse_sampled_addmm x c d 0.5 2"
    yield {"x": M, "a": a}, "y = torch.sparse.sampled_addmm(x, a, a)", "y = sparse_sampled_addmm x a a"
    d = (3, 4), F, False, "dense"
    push = "push factory; i = arange 3; pop; "
    for shape in ("4, 4", "3, 3"):
        yield {"d": d}, "i = torch.arange(3)\ny = torch.sparse.spdiags(d, i, (%s))" % shape, push + "y = _spdiags d i [%s]" % shape.replace(" ", "")
    yield {"d": d}, "i = torch.arange(3) * 0\ny = torch.sparse.spdiags(d, i, (3, 3))", push + "n = number 0; i = mul.Tensor i n; y = _spdiags d i [3,3]"
    for size in ("1,2", "3,4", "2,2"):
        yield {"a": PLAIN}, "y = a.to_sparse_bsr((%s)).to_dense()" % size, "z = to_sparse_bsr a [%s]; y = to_dense z" % size


def arithmetic():
    for name in ("add", "sub", "mul"):
        for x, z in ((P, P), (P, Q), (Q, P), (H, H), (P, H), (PLAIN, P), (P, PLAIN), (PLAIN, H), (M, M), (P, ((3, 4), D, False, "coo")), (P, ((3, 4), I, False, "coo")),
                     (P, ((3, 3), F, False, "coo")), (((3, 4), I, False, "coo"), ((3, 4), I, False, "twice")), (((3, 4), F, False, "coo"), ((4,), F, False, "dense"))):
            if name == "sub" and M in (x, z):
                continue
            yield {"x": x, "z": z}, "y = torch.%s(x, z)" % name, "y = %s.Tensor x z" % name
            if name != "mul":
                yield {"x": x, "z": z}, "y = torch.%s(x, z, alpha=2)" % name, "y = %s.Tensor x z 2" % name
            if M not in (x, z):
                yield {"x": x, "z": z}, "x.%s_(z)" % name, "x = %s_.Tensor x z" % name
        yield through({"x": S, "z": S}, "y = torch.%s(x, z)" % name, "y = %s.Tensor x z" % name)
    yield {"a": Y, "x": S}, "y = torch.add(a, x).exp()\nq = y.sum()\nq.backward()", "s = add.Tensor a x; y = exp s; q = sum y; backward q"
    yield through({"x": S, "a": Y}, "y = x * a", "y = mul.Tensor x a")
    for x in (P, Q, H, M, ((3, 4), I, False, "coo"), ((3, 4), F, False, "coo")):
        for number in ("2", "0.5", "-1"):
            yield {"x": x}, "y = x * %s" % number, "n = number %s; y = mul.Tensor x n" % number
            yield {"x": x}, "y = x / %s" % number, "n = number %s; y = div.Tensor x n" % number
        if x is not M:
            yield {"x": x}, "x *= 2", "n = number 2; x = mul_.Tensor x n"
            yield {"x": x}, "x /= 2", "n = number 2; x = div_.Tensor x n"
            yield {"x": x}, "y = x + 1", "n = number 1; y = add.Tensor x n"
            yield {"x": x}, "y = x.pow(2)", "y = pow.Tensor_Scalar x 2"
            yield {"x": x}, "y = x ** 0", "y = pow.Tensor_Scalar x 0"
            yield {"x": x}, "y = torch.div(x, 2, rounding_mode='floor')", "n = number 2; y = div.Tensor_mode x n str:floor"
            yield {"x": x}, "y = torch.div(x, 2, rounding_mode='trunc')", "n = number 2; y = div.Tensor_mode x n str:trunc"
    yield {"x": P, "z": P}, "y = x / z", "y = div.Tensor x z"
    yield {"x": P, "z": PLAIN}, "y = x / z", "y = div.Tensor x z"
    yield through({"x": S}, "y = x / 2", "n = number 2; y = div.Tensor x n")
    yield through({"x": S}, "y = -x", "y = neg x")
    yield through({"x": S}, "y = x.pow(2)", "y = pow.Tensor_Scalar x 2")
    yield {"x": Q, "z": P}, "torch.add(x, x, out=z)", "z = add.out x x 1 z"
    yield {"x": Q, "z": P}, "torch.mul(x, x, out=z)", "z = mul.out x x z"
    yield {"x": Q, "z": P}, "torch.sub(x, x, out=z)", "z = sub.out x x 1 z"


def functions():
    for name in ONE:
        for x in (P, Q, H, ((3, 4), I, False, "coo")):
            yield {"x": x}, "y = torch.%s(x)" % name, "y = %s x" % name
        if name != "atanh":
            yield through({"x": S}, "y = torch.%s(x)" % name, "y = %s x" % name)
        for x in (M, C):
            yield {"x": x}, "y = torch.%s(x)" % name, "y = %s x" % name
        for x in (P, Q, M):
            yield {"x": x}, "x.%s_()" % name, "x = %s_ x" % name
            if name != "relu":
                yield {"x": x, "z": P if x is Q else x}, "torch.%s(x, out=z)" % name, "z = %s.out x z" % name
    yield through({"x": R}, "y = torch.relu(x)", "y = relu x")
    for name in QUESTIONS:
        for x in (P, Q, M):
            yield {"x": x}, "y = torch.%s(x)" % name, "y = %s x" % name
    for x in (P, Q):
        yield {"x": x}, "y = torch.nan_to_num(x)", "y = nan_to_num x"
        yield {"x": x}, "y = torch.any(x)", "y = any x"
        yield {"x": x}, "y = torch.floor_divide(x, 2)", "n = number 2; y = floor_divide x n"


def masks():
    for mask in (P, Q, M, H):
        for x in (PLAIN, P, Q, ((3, 3), F, False, "dense"), ((3, 4), D, False, "dense")):
            yield {"x": x, "m": mask}, "y = x.sparse_mask(m)", "y = sparse_mask x m"
    yield {"x": PLAIN, "m": PLAIN}, "y = x.sparse_mask(m)", "y = sparse_mask x m"
    yield through({"x": Y, "m": P}, "y = x.sparse_mask(m)", "y = sparse_mask x m")
    yield through({"x": S, "m": P}, "y = x.sparse_mask(m)", "y = sparse_mask x m")


def products():
    x, v, t = ((4, 2), F, False, "small"), ((4,), F, False, "small"), ((3, 2), F, False, "small")
    for s in (P, Q, M, C, ((3, 4), D, False, "coo"), ((3, 4), I, False, "coo")):
        yield {"s": s, "x": x}, "y = torch.mm(s, x)", "y = mm s x"
        yield {"s": s, "x": x}, "y = torch.sparse.mm(s, x)", "y = _sparse_mm s x"
        yield {"s": s, "x": x}, "y = s @ x", "y = matmul s x"
        yield {"s": s, "v": v}, "y = torch.mv(s, v)", "y = mv s v"
        yield {"s": s, "v": v}, "y = s @ v", "y = matmul s v"
        for beta, alpha in (("1", "1"), ("0", "2"), ("0.5", "2")):
            yield {"t": t, "s": s, "x": x}, "y = torch.addmm(t, s, x, beta=%s, alpha=%s)" % (beta, alpha), "y = addmm t s x %s %s" % (beta, alpha)
        yield {"t": t, "s": s, "x": x}, "y = torch.sparse.addmm(t, s, x, beta=2)", "y = _sparse_addmm t s x 2"
        yield {"s": s, "x": t}, "y = torch.mm(s, x)", "y = mm s x"
        yield {"s": s, "x": v}, "y = torch.mm(s, x)", "y = mm s x"
        yield {"s": s, "v": ((3,), F, False, "small")}, "y = torch.mv(s, v)", "y = mv s v"
    yield {"a": ((2, 3), F, False, "small"), "s": M}, "y = torch.mm(a, s)", "y = mm a s"
    b = ((2, 3, 4), F, False, "coo")
    yield {"b": b, "x": ((2, 4, 2), F, False, "small")}, "y = torch.bmm(b, x)", "y = bmm b x"
    yield {"b": b, "x": ((3, 4, 2), F, False, "small")}, "y = torch.bmm(b, x)", "y = bmm b x"
    z = ((4, 3), F, False, "coo")
    for s in (P, Q):
        yield {"s": s, "z": z}, "y = torch.sparse.mm(s, z)", "y = _sparse_mm s z"
        yield {"s": s, "z": z}, "y = s @ z", "y = matmul s z"
    yield {"a": ((2, 3), F, False, "small"), "s": P}, "y = torch.mm(a, s)", "y = mm a s"
    yield {"a": ((2, 3), F, False, "small"), "s": P}, "y = torch.sparse.mm(a, s)", "y = _sparse_mm a s"
    yield {"s": P, "z": P}, "y = torch.sparse.mm(s, z)", "y = _sparse_mm s z"
    yield {"s": H, "x": x}, "y = torch.mm(s, x)", "y = mm s x"
    for s in (S, R):
        yield {"s": s, "x": X}, "y = torch.sparse.mm(s, x).exp()\nq = y.sum()\nq.backward()", "p = _sparse_mm s x; y = exp p; q = sum y; backward q"
        yield {"s": s, "x": X}, "y = torch.mm(s, x).exp()\nq = y.sum()\nq.backward()", "p = mm s x; y = exp p; q = sum y; backward q"
    yield {"s": S, "x": X, "t": ((3, 2), F, True, "small")}, "y = torch.sparse.addmm(t, s, x, beta=2, alpha=3).exp()\nq = y.sum()\nq.backward()", \
        "p = _sparse_addmm t s x 2 3; y = exp p; q = sum y; backward q"
    yield {"s": P, "x": X, "t": ((3, 2), F, True, "small")}, "y = torch.addmm(t, s, x, beta=2, alpha=3).exp()\nq = y.sum()\nq.backward()", \
        "p = addmm t s x 2 3; y = exp p; q = sum y; backward q"
    yield through({"s": S, "z": ((4, 3), F, True, "coo")}, "y = torch.sparse.mm(s, z)", "y = _sparse_mm s z")
    yield {"s": S, "v": ((4,), F, True, "small")}, "y = torch.mv(s, v).exp()\nq = y.sum()\nq.backward()", "p = mv s v; y = exp p; q = sum y; backward q"


def tables():
    w, i = ((5, 3), F, True, "dense"), ((2, 2), I, False, "zero")
    yield {"w": w, "i": i}, "y = torch.embedding(w, i + 1, -1, False, True)\nq = y.sum()\nq.backward()", "n = number 1; j = add.Tensor i n; y = embedding w j -1 False True; q = sum y; backward q"
    for mode in (0, 1):
        yield {"w": w, "i": i}, "j = i.view(4)\no = torch.arange(2) * 2\ny = torch.embedding_bag(w, j, o, False, %d, True)[0].exp()\nq = y.sum()\nq.backward()" % mode, \
            "j = view i [4]; push factory; r = arange 2; pop; n = number 2; o = mul.Tensor r n; b,c,d,e = embedding_bag w j o False %d True; y = exp b; q = sum y; backward q" % mode
    yield {"w": w, "i": i}, "y = torch.embedding(w, i, 0, False, True)\nq = y.sum()\nq.backward()", "y = embedding w i 0 False True; q = sum y; backward q"


def cases():
    every = []
    for part in (making, parts, shapes, sums, lines, arithmetic, functions, masks, products, tables):
        every += part()
    return every
