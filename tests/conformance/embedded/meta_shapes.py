"""What shapes, strides and types come out of an MLP, a CNN and a transformer, without computing anything; and of their gradients."""
import torch
from torch import nn
import torch.nn.functional as F


def told(name, t):
    print(name, tuple(t.shape), t.stride(), t.dtype, t.device)


with torch.device("meta"):
    mlp = nn.Sequential(nn.Linear(6, 12), nn.ReLU(), nn.Linear(12, 12), nn.Tanh(), nn.Dropout(0.1), nn.Linear(12, 3))
    cnn = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(8, 16, 3, stride=2), nn.SiLU(), nn.AvgPool2d(2), nn.Flatten(), nn.Linear(16, 5))
    x = torch.empty(4, 6)
    image = torch.empty(2, 3, 14, 14)
    target = torch.zeros(4, dtype=torch.int64)

for layers, data in ((mlp, x), (cnn, image)):
    h = data
    for layer in layers:
        h = layer(h)
        told(type(layer).__name__, h)

loss = F.cross_entropy(mlp(x), target)
told("loss", loss)
loss.backward()
for name, p in mlp.named_parameters():
    told(name, p.grad)

F.mse_loss(cnn(image), torch.empty(2, 5, device="meta")).backward()
for name, p in cnn.named_parameters():
    told(name, p.grad)
cnn.eval()
told("in evaluation", cnn(image))


class Attention(nn.Module):
    def __init__(self, width=8, heads=2):
        super().__init__()
        self.heads = heads
        self.norm = nn.LayerNorm(width)
        self.qkv = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)

    def forward(self, x):
        n, t, w = x.shape
        q, k, v = (p.view(n, t, self.heads, w // self.heads).transpose(1, 2) for p in self.qkv(self.norm(x)).chunk(3, dim=-1))
        scores = q @ k.transpose(-2, -1) / (w // self.heads) ** 0.5
        mask = torch.triu(torch.ones(t, t, dtype=torch.bool, device=x.device), 1)
        weights = torch.softmax(scores.masked_fill(mask, float("-inf")), dim=-1)
        told("weights", weights)
        told("fused", F.scaled_dot_product_attention(q, k, v, is_causal=True))
        return x + self.out((weights @ v).transpose(1, 2).reshape(n, t, w))


with torch.device("meta"):
    attention = Attention()
    words = torch.empty(2, 5, 8, requires_grad=True)
out = attention(words)
told("attention", out)
out.sum().backward()
told("words.grad", words.grad)
for name, p in attention.named_parameters():
    told(name, p.grad)
