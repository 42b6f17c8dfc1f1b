"""Quantize a trained classifier's weights to int8 by hand and compare its predictions with the float model."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def quantize(w: torch.Tensor, bits: int = 8, per_channel: bool = False):
    qmax = 2 ** (bits - 1) - 1
    amax = w.abs().amax(dim=1, keepdim=True) if per_channel else w.abs().max()
    scale = amax / qmax
    q = torch.clamp(torch.round(w / scale), -qmax - 1, qmax).to(torch.int8)
    return q, scale


class QLinear(nn.Module):
    def __init__(self, lin: nn.Linear, bits: int, per_channel: bool):
        super().__init__()
        q, scale = quantize(lin.weight.detach(), bits, per_channel)
        self.register_buffer("q", q)
        self.register_buffer("scale", scale)
        self.register_buffer("bias", lin.bias.detach().clone())

    def forward(self, x):
        return F.linear(x, self.q.float() * self.scale, self.bias)


def convert(model, bits, per_channel=True):
    return nn.Sequential(*[QLinear(m, bits, per_channel) if isinstance(m, nn.Linear) else m for m in model])


def size(model):
    tensors = list(model.parameters()) + list(model.buffers())
    return sum(t.numel() * t.element_size() for t in tensors)


torch.manual_seed(5)
x = torch.randn(300, 8)
y = (x[:, :4].sum(1) > x[:, 4:].pow(2).sum(1) - 4).long()
net = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for _ in range(80):
    loss = F.cross_entropy(net(x), y)
    opt.zero_grad()
    loss.backward()
    opt.step()

net.eval()
with torch.inference_mode():
    ref = net(x)
    print("float accuracy %.2f size %d" % ((ref.argmax(1) == y).float().mean(), size(net)))
    for bits in (8, 4, 2):
        for pc in (False, True):
            qnet = convert(net, bits, pc)
            out = qnet(x)
            agree = (out.argmax(1) == ref.argmax(1)).float().mean().item()
            print(f"{bits} bits per_channel={pc!s:5s} agree {agree:.1f} rel. error {((out - ref).norm() / ref.norm()).item():.2f} size {size(qnet)}")

w = torch.tensor([[0.5, -1.0, 0.25], [2.0, 0.1, -4.0]])
q, s = quantize(w, 8, True)
print(q.tolist(), ["%.5f" % v for v in s.flatten()])
fq = torch.fake_quantize_per_tensor_affine(w, 0.05, 0, -128, 127)
print("fake quantize", [[round(v, 2) for v in row] for row in fq.tolist()])
