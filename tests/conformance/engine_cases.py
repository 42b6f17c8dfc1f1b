"""What both engines are asked to do: each case is inputs, statements for Python, and commands for peel_engine_replay.

Inputs: `name: (shape, dtype, requires_grad, look)`; look = dense, t (transposed), s (every second), e (expanded), small (dense, below 1). Commands are
`result = op.overload argument ...`, `n = number 2`, `backward y [keep]`, `push MODE`, `pop`.
"""
import random

F, D, I, B = "float32", "float64", "int64", "bool"


def named():
    a, w, b = ((2, 3), F, False, "dense"), ((2, 3), F, True, "dense"), ((3,), F, True, "dense")
    i = ((2, 3), I, False, "dense")
    yield {"a": a}, "y = a + 1", "n = number 1; y = add.Tensor a n"
    yield {"a": a}, "y = a * 2.5", "n = number 2.5; y = mul.Tensor a n"
    yield {"a": a, "i": i}, "y = i + a", "y = add.Tensor i a"
    yield {"a": a, "i": i}, "a.add_(i)", "a = add_.Tensor a i"
    yield {"a": a, "d": ((2, 3), D, False, "dense")}, "a.add_(d)", "a = add_.Tensor a d"
    yield {"i": i}, "y = i.sum()", "y = sum i"
    yield {"i": i}, "y = i.sum(0)", "y = sum.dim_IntList i [0]"
    yield {"i": ((2, 3), B, False, "dense")}, "y = i.sum()", "y = sum i"
    yield {"i": i}, "y = i.mean(dtype=torch.float32)", "y = mean i dtype:float32"
    yield {"i": i}, "y = i.mean()", "y = mean i"
    yield {"i": i}, "y = i.exp()", "y = exp i"
    yield {"i": i}, "y = i / 2", "n = number 2; y = div.Tensor i n"
    yield {"a": a}, "y = a.sum(dtype=torch.float64)", "y = sum a dtype:float64"
    yield {"w": w}, "y = (w * 2).sum(); y.backward()", "n = number 2; z = mul.Tensor w n; y = sum z; backward y"
    yield {"w": w}, "y = (w / 2).mean(); y.backward()", "n = number 2; z = div.Tensor w n; y = mean z; backward y"
    yield {"w": w}, "y = (w ** 2).sum(); y.backward()", "z = pow.Tensor_Scalar w 2; y = sum z; backward y"
    yield {"w": w}, "y = (w ** 3).sum(); y.backward()", "z = pow.Tensor_Scalar w 3; y = sum z; backward y"
    yield {"w": w}, "y = (w ** 1).sum(); y.backward()", "z = pow.Tensor_Scalar w 1; y = sum z; backward y"
    yield {"w": w}, "y = (w ** 0).sum(); y.backward()", "z = pow.Tensor_Scalar w 0; y = sum z; backward y"
    yield {"i": i}, "y = i ** 2", "y = pow.Tensor_Scalar i 2"
    yield {"i": i}, "y = i ** 0.5", "y = pow.Tensor_Scalar i 0.5"
    yield {"w": w}, "y = (w.exp() * w.sin()).sum(); y.backward()", "p = exp w; q = sin w; z = mul.Tensor p q; y = sum z; backward y"
    yield {"w": w}, "z = w.exp(); y = z.log().sum(); y.backward()", "z = exp w; l = log z; y = sum l; backward y"
    yield {"w": w}, "y = w.cos().tanh().sum(); y.backward()", "c = cos w; z = tanh c; y = sum z; backward y"
    yield {"w": w, "a": a}, "y = (w - a).neg().relu().sum(); y.backward()", "s = sub.Tensor w a; m = neg s; r = relu m; y = sum r; backward y"
    yield {"w": w}, "y = w[0].sum(); y.backward()", "s = select.int w 0 0; y = sum s; backward y"
    yield {"w": w}, "y = w.unsqueeze(1).sum(); y.backward()", "s = unsqueeze w 1; y = sum s; backward y"
    yield {"w": w}, "y = w.unsqueeze(0).squeeze(0).sum(); y.backward()", "s = unsqueeze w 0; q = squeeze.dim s 0; y = sum q; backward y"
    yield {"w": w}, "y = w.view(6).exp().sum(); y.backward()", "v = view w [6]; e = exp v; y = sum e; backward y"
    yield {"w": w}, "y = w.t().reshape(6).sum(); y.backward()", "v = t w; r = reshape v [6]; y = sum r; backward y"
    yield {"w": w}, "y = w.transpose(0, 1).exp().sum(); y.backward()", "v = transpose.int w 0 1; r = exp v; y = sum r; backward y"
    yield {"w": w}, "y = w.sum(1).exp().sum(); y.backward()", "s = sum.dim_IntList w [1]; e = exp s; y = sum e; backward y"
    yield {"w": w}, "y = w.sum((0, 1), keepdim=True).sum(); y.backward()", "s = sum.dim_IntList w [0,1] True; y = sum s; backward y"
    yield {"w": w}, "y = w.mean(0).sum(); y.backward()", "s = mean.dim w [0]; y = sum s; backward y"
    yield {"w": w}, "y = w.mean((0, 1)).exp(); y.backward()", "s = mean.dim w [0,1]; y = exp s; backward y"
    yield {"w": w}, "y = w.to(torch.float64).sum(); y.backward()", "d = to.dtype w dtype:float64; y = sum d; backward y"
    yield {"w": w}, "y = w.to(torch.int64)", "y = to.dtype w dtype:int64"
    yield {"w": w}, "y = w.expand(4, 2, 3).mean(0).sum(); y.backward()", "x = expand w [4,2,3]; m = mean.dim x [0]; y = sum m; backward y"
    yield {"w": w}, "y = (w / w).mean(1, keepdim=True).sum(); y.backward()", "d = div.Tensor w w; m = mean.dim d [1] True; y = sum m; backward y"
    yield {"w": w}, "y = torch.mm(w.t(), w).sum(); y.backward()", "t = t w; p = mm t w; y = sum p; backward y"
    yield {"w": w, "b": b}, "y = (w * b).sum(); y.backward()", "z = mul.Tensor w b; y = sum z; backward y"
    yield {"w": w, "b": b}, "y = (w + b).sum(); y.backward()", "z = add.Tensor w b; y = sum z; backward y"
    yield {"w": w, "b": b}, "y = torch.add(w, b, alpha=2).exp().sum(); y.backward()", "z = add.Tensor w b 2; e = exp z; y = sum e; backward y"
    yield {"w": w, "b": b}, "y = torch.sub(w, b, alpha=2).exp().sum(); y.backward()", "z = sub.Tensor w b 2; e = exp z; y = sum e; backward y"
    yield {"w": w}, "y = (w + w).sum(); y.backward()", "z = add.Tensor w w; y = sum z; backward y"
    yield {"w": w}, "y = w.sum(); y.backward(); y2 = w.exp().sum(); y2.backward()", "y = sum w; backward y; e = exp w; y2 = sum e; backward y2"
    yield {"w": w, "v": w}, "y = torch.nn.functional.mse_loss(w, v); y.backward()", "q = broadcast w v; y = mse_loss w v; backward y"
    yield {"w": w, "v": a}, "y = torch.nn.functional.mse_loss(w, v, reduction='sum'); y.backward()", "q = broadcast w v; y = mse_loss w v 2; backward y"
    x, m, k = ((4, 3), F, True, "dense"), ((5, 3), F, True, "dense"), ((5,), F, True, "dense")
    yield {"x": x, "m": m, "k": k}, "y = torch.nn.functional.linear(x, m, k).sum(); y.backward()", "l = linear x m k; y = sum l; backward y"
    yield {"x": x, "m": m}, "y = torch.nn.functional.linear(x, m).exp().sum(); y.backward()", "l = linear x m; e = exp l; y = sum e; backward y"
    yield ({"x": x, "m": ((3, 5), F, True, "dense"), "k": k}, "y = torch.addmm(k, x, m, beta=0.5, alpha=2).exp().sum(); y.backward()",
           "l = addmm k x m 0.5 2; e = exp l; y = sum e; backward y")
    yield {"w": w}, "y = w.as_strided((2, 2), (3, 1), 1).exp().sum(); y.backward()", "v = as_strided w [2,2] [3,1] 1; e = exp v; y = sum e; backward y"
    # In place, views, versions, modes.
    yield {"w": w}, "b = w * 1; v = b.view(6); v.mul_(3); y = b.sum(); y.backward()", "n = number 1; b = mul.Tensor w n; v = view b [6]; k = number 3; v = mul_.Tensor v k; y = sum b; backward y"
    yield {"w": w}, "b = w * 1; v = b.view(6); b.mul_(3); y = v.sum(); y.backward()", "n = number 1; b = mul.Tensor w n; v = view b [6]; k = number 3; b = mul_.Tensor b k; y = sum v; backward y"
    yield {"w": w}, "b = w * 1; b.mul_(b.cos()); y = b.sum(); y.backward()", "n = number 1; b = mul.Tensor w n; c = cos b; b = mul_.Tensor b c; y = sum b; backward y"
    yield {"w": w}, "e = w.exp(); e.add_(1); y = e.sum(); y.backward()", "e = exp w; n = number 1; e = add_.Tensor e n; y = sum e; backward y"
    yield {"w": w}, "e = w.exp(); d = e.detach(); d.add_(1); y = e.sum(); y.backward()", "e = exp w; d = detach e; n = number 1; d = add_.Tensor d n; y = sum e; backward y"
    yield {"w": w}, "y = w.exp().sum(); y.backward(); y.backward()", "e = exp w; y = sum e; backward y; backward y"
    yield {"w": w}, "w.add_(1)", "n = number 1; w = add_.Tensor w n"
    yield {"w": w}, "w.view(6).add_(1)", "n = number 1; v = view w [6]; v = add_.Tensor v n"
    yield {"w": w}, "y = w.detach(); y.add_(1)", "y = detach w; n = number 1; y = add_.Tensor y n"
    yield {"w": w}, "c = torch.zeros(2, 3); c.copy_(w); y = c.sum(); y.backward()", "push factory; c = zeros [2,3] None 0 cpu False; pop; c = copy_ c w; y = sum c; backward y"
    yield {"w": w}, "z = w.clone(); z.zero_(); y = z.sum(); y.backward()", "z = clone w; z = zero_ z; y = sum z; backward y"
    yield {"w": w}, "z = w.clone(); z.exp_(); y = z.sum(); y.backward()", "z = clone w; z = exp_ z; y = sum z; backward y"
    for mode, python in (("no_grad", "torch.no_grad()"), ("inference", "torch.inference_mode()"), ("enable_grad", "torch.enable_grad()")):
        for body, commands in (("y = w * a; v = a.view(6); v.add_(1); z = v.exp(); z.mul_(2)", "y = mul.Tensor w a; v = view a [6]; n = number 1; v = add_.Tensor v n; z = exp v; k = number 2; z = mul_.Tensor z k"),):
            yield {"w": w, "a": a}, "with %s:\n    %s" % (python, body), "push %s; %s; pop" % (mode, commands)
    yield {"w": w}, "with torch.no_grad():\n    b = w * 1\n    v = b[0]\nv.mul_(w)", "push no_grad; n = number 1; b = mul.Tensor w n; v = select.int b 0 0; pop; v = mul_.Tensor v w"
    yield {"w": w}, "with torch.inference_mode():\n    b = w * 1\ny = b * w", "push inference; n = number 1; b = mul.Tensor w n; pop; y = mul.Tensor b w"
    yield {"w": w}, "with torch.inference_mode():\n    b = w * 1\ny = b + w", "push inference; n = number 1; b = mul.Tensor w n; pop; y = add.Tensor b w"
    yield {"w": w}, "with torch.inference_mode():\n    b = w * 1\nb.add_(1)", "push inference; n = number 1; b = mul.Tensor w n; pop; k = number 1; b = add_.Tensor b k"
    yield {"w": w, "a": a}, "b = w * 1\nwith torch.inference_mode():\n    v = b.view(6)\nv.add_(1)", "n = number 1; b = mul.Tensor w n; push inference; v = view b [6]; pop; k = number 1; v = add_.Tensor v k"


    # More of backward: writes, modes around it, what isn't differentiable.
    yield {"w": w}, "c = w * 1; c.fill_(2); y = c.sum(); y.backward()", "n = number 1; c = mul.Tensor w n; c = fill_.Scalar c 2; y = sum c; backward y"
    yield {"w": w, "s": ((), F, True, "dense")}, "c = w * 1; c.fill_(s); y = c.sum(); y.backward()", "n = number 1; c = mul.Tensor w n; c = fill_.Tensor c s; y = sum c; backward y"
    yield {"a": a, "b": b}, "a.fill_(b)", "a = fill_.Tensor a b"
    yield {"w": w}, "y = w.exp().sum()\nwith torch.inference_mode():\n    y.backward()", "e = exp w; y = sum e; push inference; backward y; pop"
    yield {"w": w}, "y = w.exp().sum()\nwith torch.no_grad():\n    y.backward()", "e = exp w; y = sum e; push no_grad; backward y; pop"
    yield {"w": w}, "y = w.exp().sum(); y.backward(retain_graph=True); y.backward()", "e = exp w; y = sum e; backward y keep; backward y"
    yield {"a": a}, "y = a.sum(); y.backward()", "y = sum a; backward y"
    yield {"w": w}, "d = w.detach(); y = d.sum(); y.backward()", "d = detach w; y = sum d; backward y"
    yield {"w": w, "b": b}, "w.data.add_(1); y = (w * b).sum(); y.backward()", "d = data w; n = number 1; d = add_.Tensor d n; z = mul.Tensor w b; y = sum z; backward y"


UNARY = {"exp": "exp", "log": "log", "sin": "sin", "cos": "cos", "tanh": "tanh", "neg": "neg", "relu": "relu"}
BINARY = {"add": "add.Tensor", "sub": "sub.Tensor", "mul": "mul.Tensor", "div": "div.Tensor"}


def graphs(seed, count):
    """Random small graphs: nodes with several users, views, writes in place, detached parts."""
    rng = random.Random(seed)
    unary = ["exp", "sin", "cos", "tanh", "neg", "relu", "t", "detach", "clone"]
    for _ in range(count):
        inputs = {n: ((2, 2), F, n != "a", "small") for n in ("w", "u", "a")}
        names, python, ours = list(inputs), [], []
        for k in range(rng.randint(3, 9)):
            x, y, out, how = rng.choice(names), rng.choice(names), "v%d" % k, rng.random()
            if how < 0.45:
                op = rng.choice(unary)
                python.append("%s = %s.%s()" % (out, x, op))
                ours.append("%s = %s %s" % (out, op, x))
            elif how < 0.75:
                op = rng.choice(["add", "sub", "mul"])
                python.append("%s = %s.%s(%s)" % (out, x, op, y))
                ours.append("%s = %s.Tensor %s %s" % (out, op, x, y))
            elif how < 0.85:
                python.append("%s = %s.view(4).view(2, 2)" % (out, x))
                ours += ["flat%d = view %s [4]" % (k, x), "%s = view flat%d [2,2]" % (out, k)]
            elif k:
                op = rng.choice(["add", "mul"])
                out = rng.choice(names[3:] or names)
                python.append("%s.%s_(%s)" % (out, op, y))
                ours.append("%s = %s_.Tensor %s %s" % (out, op, out, y))
            if out not in names:
                names.append(out) if how < 0.85 or k else None
        names = [n for n in names if n in inputs or any(p.startswith(n + " =") for p in python)]
        total = rng.sample(names, min(len(names), 3))
        python.append("z = %s" % " + ".join(total + total[:1]))
        last = total[0]
        for i, n in enumerate(total[1:] + total[:1]):
            ours.append("z%d = add.Tensor %s %s" % (i, last, n))
            last = "z%d" % i
        python.append("y = z.sum()")
        python.append("y.backward()")
        yield inputs, "\n".join(python), "; ".join(ours + ["y = sum %s" % last, "backward y"])


def look(rng, shape):
    """A view of x, at times an impossible one."""
    d, e = rng.randint(-3, 3), rng.randint(-3, 3)
    flat = 1
    for s in shape:
        flat *= s
    target = [rng.choice([1, 2, 3, -1]) for _ in range(rng.randint(0, 2))] if rng.random() < 0.3 else [flat, 1] if rng.random() < 0.5 else [-1]
    wide = [2] * rng.randint(0, 1) + [3 if s == 1 and rng.random() < 0.6 else s for s in shape]
    return rng.choice([
        ("z = x.view(%s)" % target, "z = view x [%s]" % ",".join(map(str, target))),
        ("z = x.reshape(%s)" % target, "z = reshape x [%s]" % ",".join(map(str, target))),
        ("z = x.transpose(%d, %d)" % (d, e), "z = transpose.int x %d %d" % (d, e)),
        ("z = x.select(%d, %d)" % (d, e), "z = select.int x %d %d" % (d, e)),
        ("z = x.unsqueeze(%d)" % d, "z = unsqueeze x %d" % d),
        ("z = x.squeeze(%d)" % d, "z = squeeze.dim x %d" % d),
        ("z = x.t()", "z = t x"),
        ("z = x.expand(%s)" % wide, "z = expand x [%s]" % ",".join(map(str, wide)))])


def drawn(seed, count):
    """Random inputs: broadcast, strided, empty, of other types, and wrong ones."""
    rng = random.Random(seed)
    for _ in range(count):
        shape = tuple(rng.choice([0, 1, 2, 3, 4]) if rng.random() < 0.9 else 5 for _ in range(rng.randint(0, 3)))
        other = tuple(s if rng.random() < 0.7 else 1 if rng.random() < 0.8 else 7 for s in shape)[rng.randint(0, min(1, len(shape))):]

        def one(s, grad=True):
            dtype = rng.choice([F, F, F, D, I, B])
            return (s, dtype, grad and dtype in (F, D) and rng.random() < 0.6, rng.choice(["dense", "dense", "t", "s", "e"]))
        x, y = one(shape), one(other)
        how = rng.randrange(9)
        if how == 0:
            python, ours = rng.choice(sorted(UNARY.items()))
            made = "z = torch.%s(x)" % python, "z = %s x" % ours
        elif how == 1:
            python, ours = rng.choice(sorted(BINARY.items()))
            made = "z = torch.%s(x, y)" % python, "z = %s x y" % ours
        elif how == 2:
            python, ours = rng.choice([p for p in sorted(BINARY.items()) if p[0] != "neg"])
            made = "z = x.detach().clone()\nz.%s_(y)" % python, "d = detach x; z = clone d; z = %s z y" % ours.replace(".", "_.")
        elif how == 3:
            dims = sorted(rng.sample(range(len(shape)), rng.randint(0, len(shape))))
            keep = rng.random() < 0.5
            name = rng.choice(["sum", "mean"])
            made = ("z = x.%s(%s, keepdim=%s)" % (name, dims, keep),
                    "z = %s x [%s] %s" % ({"sum": "sum.dim_IntList", "mean": "mean.dim"}[name], ",".join(map(str, dims)), keep))
        elif how == 5:
            made = look(rng, shape)
        elif how == 6:
            made = rng.choice([("z = x ** %s" % p, "z = pow.Tensor_Scalar x %s" % p) for p in ("2", "3", "0.5", "1", "0", "-1", "2.0")] +
                              [("z = x.to(torch.%s)" % t, "z = to.dtype x dtype:%s" % t) for t in (F, D, I, B)] +
                              [("z = x.clone()", "z = clone x"), ("z = torch.relu(x)", "z = relu x"), ("z = x.sum()", "z = sum x"), ("z = x.mean()", "z = mean x")])
        elif how == 7:
            made = rng.choice([("z = x.detach().clone()\nz.copy_(y)", "d = detach x; z = clone d; z = copy_ z y"),
                               ("z = x.detach().clone()\nz.zero_()", "d = detach x; z = clone d; z = zero_ z"),
                               ("z = x.detach().clone()\nz.fill_(3)", "d = detach x; z = clone d; z = fill_.Scalar z 3"),
                               ("z = torch.nn.functional.mse_loss(x, y.expand(x.shape))", "e = expand y [%s]; q = broadcast x e; z = mse_loss x e" % ",".join(map(str, shape)))])
            if "mse" in made[0]:
                x, y = x[:1] + (F,) + (x[1] in (F, D) and x[2],) + x[3:], y[:1] + (F,) + (y[1] in (F, D) and y[2],) + y[3:]
                how = 1
            else:
                how = 2
        elif how == 8:
            n, k, m = rng.choice([1, 2, 3]), rng.choice([1, 2, 4]), rng.choice([1, 2, 3])
            x = ((n, k), F, rng.random() < 0.6, rng.choice(["dense", "t"]))
            y = ((m, k), F, rng.random() < 0.6, rng.choice(["dense", "t"]))
            made = "z = torch.nn.functional.linear(x, y)", "z = linear x y"
            how = 4
        else:
            n, k, m = rng.choice([1, 2, 3]), rng.choice([0, 1, 2, 4]), rng.choice([1, 2, 3])
            t = rng.choice([F, F, D])
            x = ((n, k), t, rng.random() < 0.6, rng.choice(["dense", "t"]))
            y = ((k if rng.random() < 0.9 else 5, m), t, rng.random() < 0.6, rng.choice(["dense", "t", "s"]))
            made = "z = torch.mm(x, y)", "z = mm x y"
        used = {"x": x, "y": y} if how in (1, 2, 4) else {"x": x}
        if any(v[2] for v in used.values()) and how != 2:
            yield used, made[0] + "\nq = z.sum()\nq.backward()", made[1] + "; q = sum z; backward q"
        else:
            yield used, made[0], made[1]
