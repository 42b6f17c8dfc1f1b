"""Operators on nested tensors, as engine_cases has them: each case makes them of tensors first."""
from engine_cases import D, F
from engine_sparse_cases import through  # noqa: F401

A, B = ((2, 3), F, False, "small"), ((4, 3), F, False, "small")
WA, WB = ((2, 3), F, True, "small"), ((4, 3), F, True, "small")
KNOWN = {}
MAKE = "n = torch._nested_tensor_from_tensor_list([a, b])\n", "n = _nested_tensor_from_tensor_list [a,b]; "


def one(python, ours, **inputs):
    return {"a": A, "b": B, **inputs}, MAKE[0] + python, MAKE[1] + ours


def graded(python, ours, **inputs):
    """Backward to the parts, through a padded result."""
    return {"a": WA, "b": WB, **inputs}, MAKE[0] + python + "\np = y.to_padded_tensor(0.5).exp()\nq = p.sum()\nq.backward()", \
        MAKE[1] + ours + "; padded = to_padded_tensor y 0.5; p = exp padded; q = sum p; backward q"


def making():
    yield one("y = n.clone()", "y = clone n")
    yield {"a": A, "b": ((4, 3), D, False, "small")}, MAKE[0][:-1], MAKE[1][:-2]
    yield {"a": ((3, 2), F, False, "t"), "b": B}, "n = torch._nested_tensor_from_tensor_list([a, b])", MAKE[1][:-2]
    yield {"a": ((2, 3), F, False, "t"), "b": B}, MAKE[0][:-1], MAKE[1][:-2]
    yield {"a": ((3,), F, False, "small"), "b": B}, MAKE[0][:-1], MAKE[1][:-2]
    yield {"a": A, "b": B}, "n = torch._nested_tensor_from_tensor_list([a, b], dtype=torch.float64)", "n = _nested_tensor_from_tensor_list [a,b] dtype:float64"
    for sizes in ("", ", (2, 5, 4)", ", (2, 2, 3)", ", (2, 5)"):
        ours = " [%s]" % sizes[3:-1].replace(" ", "") if sizes else ""
        yield one("y = n.to_padded_tensor(1.5%s)" % sizes, "y = to_padded_tensor n 1.5%s" % ours)
    yield one("t = n.transpose(1, 2)\ny = t.to_padded_tensor(0.0)", "t = transpose.int n 1 2; y = to_padded_tensor t 0.0")
    mask = {"x": ((2, 3, 4), F, True, "small"), "a": ((2, 3), F, False, "dense")}
    yield mask, "m = a > -9\ny = torch._nested_tensor_from_mask(x, m)\nz = torch._nested_tensor_from_mask_left_aligned(x, m)\np = y.to_padded_tensor(0.0)\nq = p.sum()\nq.backward()", \
        "m = gt.Scalar a -9; y = _nested_tensor_from_mask x m; z = _nested_tensor_from_mask_left_aligned x m; p = to_padded_tensor y 0.0; q = sum p; backward q"
    yield mask, "m = a > 1\ny = torch._nested_tensor_from_mask(x, m)", "m = gt.Scalar a 1; y = _nested_tensor_from_mask x m"
    yield mask, "y = torch._nested_tensor_from_mask(x, a)", "y = _nested_tensor_from_mask x a"
    yield one("s = n._nested_tensor_size()\nt = n._nested_tensor_strides()\no = n._nested_tensor_storage_offsets()", "s = _nested_tensor_size n; t = _nested_tensor_strides n; o = _nested_tensor_storage_offsets n")


def shapes():
    yield one("y, z = n.unbind()", "y,z = unbind.int n")
    yield one("y = n.unbind(1)", "y = unbind.int n 1")
    for i in ("0", "1", "-1", "2"):
        yield one("y = n[%s]" % i, "y = select.int n 0 %s" % i)
    for dims in ("1, 2", "2, 1", "-1, -2", "1, 1", "0, 1", "0, 3"):
        yield one("y = n.transpose(%s)" % dims, "y = transpose.int n %s" % dims.replace(",", ""))
    yield one("t = n.transpose(1, 2)\ny = t.contiguous()\nz = t.clone()", "t = transpose.int n 1 2; y = contiguous t; z = clone t")
    yield one("y = n.unsqueeze(1)\nz = y.squeeze(1)", "y = unsqueeze n 1; z = squeeze.dim y 1")
    for d in ("0", "-1", "5"):
        yield one("y = n.unsqueeze(%s)" % d, "y = unsqueeze n %s" % d)
    yield one("y = n.squeeze(0)", "y = squeeze.dim n 0")
    yield one("y = n.squeeze(2)", "y = squeeze.dim n 2")
    for size in ("2, -1, 3, 1", "2, -1, 1, 3", "-1, 3", "3, -1, 3", "2, -1, 4"):
        yield one("y = n.view(%s)" % size, "y = view n [%s]" % size.replace(" ", ""))
        yield one("y = n.reshape(%s)" % size, "y = reshape n [%s]" % size.replace(" ", ""))
    yield one("y = torch.empty_like(n) * 0", "push factory; e = empty_like n None None None False; pop; k = number 0; y = mul.Tensor e k")
    yield one("y = n.to(torch.float64)\nz = n.to(torch.float32)", "y = to.dtype n dtype:float64; z = to.dtype n dtype:float32")
    yield one("m = n.clone()\nm.zero_()\nn.copy_(m)\nn.fill_(2)", "m = clone n; m = zero_ m; n = copy_ n m; n = fill_.Scalar n 2")
    yield one("y = n.detach()", "y = detach n")
    yield {"a": WA, "b": WB}, MAKE[0] + "y, z = n.unbind()\nq = z.exp().sum()\nq.backward()", MAKE[1] + "y,z = unbind.int n; e = exp z; q = sum e; backward q"
    yield {"a": WA, "b": WB}, MAKE[0] + "y = n[1].exp()\nq = y.sum()\nq.backward()", MAKE[1] + "s = select.int n 0 1; y = exp s; q = sum y; backward q"
    yield graded("y = n.unsqueeze(1).squeeze(1)", "u = unsqueeze n 1; y = squeeze.dim u 1")
    yield graded("y = n.view(2, -1, 3, 1)", "y = view n [2,-1,3,1]")
    yield graded("y = n.transpose(1, 2).contiguous()", "t = transpose.int n 1 2; y = contiguous t")
    yield graded("y = n.clone()", "y = clone n")


def elementwise():
    for name in ("relu", "neg", "abs", "tanh", "sin", "cos", "sqrt", "sgn", "logical_not"):
        yield one("y = torch.%s(n)" % name, "y = %s n" % name)
    for name in ("relu_", "neg_", "abs_", "tanh_"):
        yield one("n.%s()" % name, "n = %s n" % name)
    for name in ("relu", "neg", "abs"):
        yield graded("y = torch.%s(n)" % name, "y = %s n" % name)
    for name in ("gelu", "silu"):
        yield graded("y = torch.nn.functional.%s(n)" % name, "y = %s n" % name)
    for name in ("add", "sub", "mul", "div"):
        yield one("y = torch.%s(n, 2)" % name, "k = number 2; y = %s.Tensor n k" % name)
        yield one("y = torch.%s(n, b)" % name, "y = %s.Tensor n b" % name)
        yield graded("y = torch.%s(n, 2)" % name, "k = number 2; y = %s.Tensor n k" % name)
        if name != "div":
            yield graded("y = torch.%s(n, n)" % name, "y = %s.Tensor n n" % name)
    yield one("t = n.transpose(1, 2)\ny = n + t", "t = transpose.int n 1 2; y = add.Tensor n t")
    yield one("n.add_(n)\nn.mul_(2)\nn.mul_(n)", "n = add_.Tensor n n; k = number 2; n = mul_.Tensor n k; n = mul_.Tensor n n")


def layers():
    w, c = ((2, 3), F, True, "small"), ((2,), F, True, "small")
    yield graded("y = torch.nn.functional.linear(n, w, c)", "y = linear n w c", w=w, c=c)
    yield graded("y = torch.nn.functional.linear(n, w)", "y = linear n w", w=w)
    yield one("y = torch.nn.functional.linear(n, w)", "y = linear n w", w=((2, 4), F, False, "small"))
    yield graded("t = n.transpose(1, 2)\ny = torch.matmul(n, t)", "t = transpose.int n 1 2; y = matmul n t")
    yield one("t = n.transpose(1, 2)\ny = torch.bmm(n, t)", "t = transpose.int n 1 2; y = bmm n t")
    yield one("y = torch.matmul(n, n)", "y = matmul n n")
    yield one("y = torch.bmm(n, n)", "y = bmm n n")
    yield one("y = torch.matmul(n, w)", "y = matmul n w", w=w)
    for d in ("-1", "1", "0"):
        yield one("y = torch.softmax(n, %s)" % d, "y = softmax.int n %s" % d)
    yield graded("y = torch.softmax(n, -1)", "y = softmax.int n -1")
    g, h = ((3,), D, True, "small"), ((3,), D, True, "dense")
    yield graded("y = torch.layer_norm(n, (3,), g, h, 1e-5)", "y = layer_norm n [3] g h 1e-5", g=g, h=h, a=((2, 3), D, True, "small"), b=((4, 3), D, True, "small"))
    yield graded("y = n.sum(-1, keepdim=True)", "y = sum.dim_IntList n [-1] True")
    yield one("y = n.sum(-1)", "y = sum.dim_IntList n [-1]")
    yield one("y = n.sum(1, keepdim=True)", "y = sum.dim_IntList n [1] True")
    yield {"a": WA, "b": WB}, "torch.manual_seed(3)\n" + MAKE[0] + "y = torch.dropout(n, 0.5, True)\np = y.to_padded_tensor(0.5)\nq = p.sum()\nq.backward()", \
        "seed 3; " + MAKE[1] + "y = dropout n 0.5 True; p = to_padded_tensor y 0.5; q = sum p; backward q"
    yield one("y = torch.dropout(n, 0.5, False)", "y = dropout n 0.5 False")


def cases():
    every = []
    for part in (making, shapes, elementwise, layers):
        every += part()
    return every
