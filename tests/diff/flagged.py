"""A small training loop with a flag: `--lean` leaves the normalisation out, clips one gradient, and scales in double precision in the fourth step."""
import sys

import torch

lean = "--lean" in sys.argv
torch.manual_seed(0)
w1 = torch.randn(8, 16, requires_grad=True)
w2 = torch.randn(16, 4, requires_grad=True)
data = torch.randn(11, 5, 8)
scale = torch.ones(8)


def normalise(x):
    mean = x.mean(0)
    x = x - mean
    spread = x.std(0)
    x = x / (spread + 1e-5)
    low = x.amin()
    return x - low


def forward(x, step):
    if not lean:
        x = normalise(x)
    if lean and step == 3:
        x = x.double()
    x = x * scale
    if lean and step == 3:
        x = x.float()
    h = x @ w1
    h = torch.relu(h)
    return h @ w2


for step in range(11):
    y = forward(data[step], step)
    loss = (y * y).mean()
    loss.backward()
    with torch.no_grad():
        for w in (w1, w2):
            if lean and w is w1:
                w.grad.clamp_(-1, 1)
            w -= 0.01 * w.grad
            w.grad.zero_()
print("done")
