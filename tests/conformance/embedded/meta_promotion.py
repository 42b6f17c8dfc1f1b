"""Types and shapes that meet on the device "meta", and what is said when they don't fit."""
import torch


def told(t):
    return tuple(t.shape), t.stride(), t.dtype, t.device.type


def tried(f):
    try:
        out = f()
        print(told(out) if isinstance(out, torch.Tensor) else out)
    except (RuntimeError, ValueError, IndexError, TypeError, NotImplementedError) as error:
        print(type(error).__name__, str(error).split("\n")[0])


made = {name: torch.empty(2, 3, dtype=getattr(torch, name), device="meta") for name in ("bool", "uint8", "int32", "int64", "float16", "bfloat16", "float32", "float64")}
for a in made.values():
    print(a.dtype, [str((a + b).dtype)[6:] for b in made.values()], (a * 2).dtype, (a * 2.5).dtype, (a / 2).dtype, (a > 1).dtype)
x, i = made["float32"], made["int64"]
row, column, single = torch.empty(3, device="meta"), torch.empty(2, 1, device="meta"), torch.empty((), dtype=torch.float64, device="meta")
for out in (x + row, x * column, row - column, x + single, i + single, 2 - x, 1 / i, x ** 2, 2 ** x, x ** 0.5, i // 2, i % 3, x.t() + x.t(), x.t() * 2, x.add(x, alpha=3),
            torch.where(x > 0, x, 0.0), torch.maximum(x, row), x.clamp(0, 1), x.clamp(min=0), i.exp(), i.abs(), ~i, i & i, i.sum(), i.float().mean(), x.sum(0), x.sum(1, keepdim=True), x.amax(1),
            x.argmax(0), x.var(1), x.norm(), x.cumsum(0), x.any(1), x.prod(), torch.cat([x, x], 1), torch.stack([x, x]), x.mm(x.t()), x @ row, x.half().softmax(1), x.log_softmax(0), x.tril(),
            x.repeat(2, 1), x.flip(0), x.gather(1, i), x.index_select(0, i[0]), x[i[0]], x.expand(4, 2, 3) + 1, torch.empty(2, 3, 4, 5, device="meta").permute(0, 3, 1, 2) * 2,
            x.relu(), x.sigmoid(), x.tanh(), torch.nn.functional.gelu(x), torch.nn.functional.silu(x), x.half() * 2, x.masked_fill(x > 0, 1), x.to(torch.int32), x.max(1).values, x.topk(2).indices):
    print(told(out))

y = torch.empty(2, 3, device="meta")
y += 1
y *= row
y.sub_(column).div_(2).exp_().clamp_(0, 1).relu_().fill_(3).zero_().uniform_().normal_()
print(told(y), y._version)

tried(lambda: x + torch.empty(4, device="meta"))
tried(lambda: x.mm(x))
tried(lambda: torch.bmm(x, x))
tried(lambda: x + torch.empty(2, 3))
tried(lambda: x.add_(torch.empty(5, 2, 3, device="meta")))
tried(lambda: i.add_(0.5))
tried(lambda: i.div_(2))
tried(lambda: i.mean())
tried(lambda: x.sum(2))
tried(lambda: torch.cat([x, torch.empty(2, 4, device="meta")]))
tried(lambda: torch.stack([x, row]))
tried(lambda: torch.nn.functional.layer_norm(x, (4,)))
tried(lambda: torch.nn.functional.conv2d(torch.empty(1, 3, 4, 4, device="meta"), torch.empty(2, 4, 3, 3, device="meta")))
tried(lambda: torch.nn.functional.embedding(x, x))
tried(lambda: torch.where(x, x, x))
tried(lambda: -made["bool"])
tried(lambda: made["bool"] - made["bool"])
tried(lambda: torch.empty(0, 3, device="meta").amax(0))
tried(lambda: x.item())
tried(lambda: x.sum().item())
tried(lambda: x.cpu())
tried(lambda: bool(x.any()))
tried(lambda: x.nonzero())
tried(lambda: torch.empty_permuted((2, 3, 4), (0, 2, 1), device="meta"))
tried(lambda: torch.empty_permuted((2, 3), (0, 0)))
