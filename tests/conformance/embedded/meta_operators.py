"""Operators on the device "meta" one by one, with the gradients of those that have one, and steps of optimisers."""
import torch
from torch import nn
import torch.nn.functional as F


def leaf(*shape):
    return torch.empty(*shape, device="meta", requires_grad=True)


x, y, w, bias, words, heads = leaf(2, 3), leaf(3), leaf(4, 3), leaf(4), leaf(2, 5, 8), leaf(2, 4, 5, 8)
image, filters, scale, cube = leaf(2, 3, 8, 8), leaf(6, 3, 3, 3), leaf(3), leaf(2, 3, 4)
target = torch.empty(2, dtype=torch.int64, device="meta")
index = torch.empty(2, 3, dtype=torch.int64, device="meta")
moving = torch.empty(3, device="meta")
LEAVES = {"x": x, "y": y, "w": w, "bias": bias, "words": words, "heads": heads, "image": image, "filters": filters, "scale": scale, "cube": cube}
CASES = [
    lambda: x * y, lambda: x + y, lambda: x - 2, lambda: x / y, lambda: x ** 2, lambda: x ** 3, lambda: x.exp(), lambda: x.log(), lambda: x.sqrt(), lambda: x.rsqrt(), lambda: x.abs(),
    lambda: x.sin(), lambda: x.tanh(), lambda: x.sigmoid(), lambda: x.relu(), lambda: F.gelu(x), lambda: F.gelu(x, approximate="tanh"), lambda: F.silu(x), lambda: F.leaky_relu(x),
    lambda: F.elu(x), lambda: F.softplus(x), lambda: F.hardtanh(x), lambda: F.logsigmoid(x), lambda: F.hardswish(x), lambda: F.glu(words), lambda: x.clamp(0, 1), lambda: x.clamp_min(0),
    lambda: torch.maximum(x, y), lambda: torch.where(x > 0, x, y), lambda: torch.lerp(x, x * 2, 0.5), lambda: torch.addcmul(x, x, y), lambda: x.masked_fill(x > 0, 0.0), lambda: x.tril(),
    lambda: x.mm(w.t()), lambda: F.linear(x, w, bias), lambda: F.linear(cube.transpose(1, 2), w, bias), lambda: cube.bmm(cube.transpose(1, 2)), lambda: torch.einsum("ij,kj->ik", x, w),
    lambda: x @ y, lambda: y @ y, lambda: torch.addmv(bias, w, y),
    lambda: x.mean(1), lambda: x.amax(1), lambda: x.max(1).values, lambda: x.max(), lambda: x.var(1), lambda: x.std(), lambda: x.norm(), lambda: x.logsumexp(1), lambda: x.cumsum(1),
    lambda: x.median(), lambda: x.topk(2).values, lambda: x.sort(1).values,
    lambda: torch.cat([x, x]), lambda: torch.stack([x, x]), lambda: x[0], lambda: x[:, 1:], lambda: x[target], lambda: x.index_select(0, target), lambda: x.gather(1, index), lambda: x.view(6),
    lambda: x.t().reshape(6), lambda: cube.permute(2, 0, 1), lambda: x.unsqueeze(0).expand(5, 2, 3), lambda: x.flip(0), lambda: x.roll(1, 0), lambda: x.repeat(2, 2), lambda: F.pad(x, (1, 1)),
    lambda: torch.softmax(x, 1), lambda: F.log_softmax(x, 1), lambda: F.layer_norm(x, (3,), y, y), lambda: F.layer_norm(x, (3,)), lambda: F.rms_norm(x, (3,)), lambda: F.group_norm(image, 3),
    lambda: F.batch_norm(image, moving, moving, scale, scale, True), lambda: F.batch_norm(image, moving, moving, scale, scale, False), lambda: F.instance_norm(image),
    lambda: F.conv2d(image, filters, padding=1), lambda: F.conv2d(image.to(memory_format=torch.channels_last), filters), lambda: F.conv_transpose2d(image, filters.transpose(0, 1)),
    lambda: F.embedding(index, w), lambda: F.max_pool2d(image, 2), lambda: F.avg_pool2d(image, 2), lambda: F.adaptive_avg_pool2d(image, 1), lambda: F.adaptive_avg_pool2d(image, 2),
    lambda: F.scaled_dot_product_attention(heads, heads, heads), lambda: F.dropout(x),
    lambda: F.cross_entropy(x, target), lambda: F.nll_loss(x, target, reduction="none"), lambda: F.mse_loss(x, x.detach()), lambda: F.l1_loss(x, x.detach()),
    lambda: F.smooth_l1_loss(x, x.detach()), lambda: F.binary_cross_entropy_with_logits(x, x.detach()), lambda: F.binary_cross_entropy(x, x.detach()),
    lambda: x.double(), lambda: x.half().mul(2), lambda: x.clone(), lambda: x.prod(1).detach().requires_grad_(), lambda: nn.LSTM(8, 4, batch_first=True, device="meta")(words)[0],
    lambda: nn.GRU(8, 4, device="meta")(words)[0],
]
for at, case in enumerate(CASES):
    out = case()
    print(at, tuple(out.shape), out.stride(), out.dtype, out.device, out.grad_fn and out.grad_fn.name())
    out.sum().backward()
    for name, t in LEAVES.items():
        if t.grad is not None:
            print("  ", name, tuple(t.grad.shape), t.grad.stride(), t.grad.dtype)
            t.grad = None

for out in (torch.isclose(x, x), x.isfinite(), torch.logical_and(x, y), torch.hypot(x, x), x.aminmax().min, F.one_hot(index, 5), torch.tensor([1.5, 2.5], device="meta"),
            x.unfold(1, 2, 1), torch.bernoulli(x.detach()), x.argsort(1), x.any(), x.all(1), torch.triu(torch.full((3, 3), float("-inf"), device="meta"), 1), F.interpolate(image, scale_factor=2)):
    print(tuple(out.shape), out.stride(), out.dtype, out.device)

for kind, options in ((torch.optim.SGD, {"momentum": 0.9}), (torch.optim.Adam, {}), (torch.optim.AdamW, {}), (torch.optim.RMSprop, {})):
    layer = nn.Linear(3, 4, device="meta")
    optimizer = kind(layer.parameters(), lr=0.1, **options)
    for _ in range(2):
        optimizer.zero_grad()
        layer(x.detach()).sum().backward()
        norm = nn.utils.clip_grad_norm_(layer.parameters(), 1.0)
        optimizer.step()
    print(kind.__name__, norm.device, layer.weight._version, sorted(k for k in optimizer.state[layer.weight]))
