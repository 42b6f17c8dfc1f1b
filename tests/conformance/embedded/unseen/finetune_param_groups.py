# Fine-tuning sketch: freeze a backbone, LoRA adapters, parameter groups, EMA weights, custom init.
import copy
import math
import torch
import torch.nn as nn
from torch.nn.utils import clip_grad_norm_, parameters_to_vector

torch.manual_seed(64)


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, r=2, alpha=4):
        super().__init__()
        self.base = base
        for p in self.base.parameters():
            p.requires_grad_(False)
        self.A = nn.Parameter(torch.empty(r, base.in_features))
        self.B = nn.Parameter(torch.zeros(base.out_features, r))
        nn.init.kaiming_uniform_(self.A, a=math.sqrt(5))
        self.scale = alpha / r

    def forward(self, x):
        return self.base(x) + self.scale * (x @ self.A.t() @ self.B.t())

    @torch.no_grad()
    def merge(self):
        out = copy.deepcopy(self.base)
        out.weight.add_(self.scale * self.B @ self.A)
        return out


def init_weights(m):
    if isinstance(m, nn.Linear):
        nn.init.xavier_uniform_(m.weight, gain=nn.init.calculate_gain("relu"))
        nn.init.constant_(m.bias, 0.01)


backbone = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 16), nn.ReLU())
backbone.apply(init_weights)
model = nn.Module()
model.backbone = backbone
model.norm = nn.LayerNorm(16)
model.head = nn.Linear(16, 3)
nn.init.orthogonal_(model.head.weight)
nn.init.trunc_normal_(model.head.bias, std=0.02)
model.backbone[2] = LoRALinear(backbone[2])
model.backbone[0].requires_grad_(False)
print(model)


def forward(m, x):
    return m.head(m.norm(m.backbone(x)))


trainable = [n for n, p in model.named_parameters() if p.requires_grad]
print("trainable:", trainable)
print(sum(p.numel() for p in model.parameters() if p.requires_grad), "/", sum(p.numel() for p in model.parameters()))

decay = [p for n, p in model.named_parameters() if p.requires_grad and p.ndim > 1 and "head" not in n]
no_decay = [p for n, p in model.named_parameters() if p.requires_grad and p.ndim == 1]
opt = torch.optim.AdamW([
    {"params": decay, "weight_decay": 0.1},
    {"params": no_decay, "weight_decay": 0.0},
    {"params": [model.head.weight], "lr": 5e-2},
], lr=1e-2)
for i, g in enumerate(opt.param_groups):
    print(f"group {i}: {len(g['params'])} tensors lr={g['lr']} wd={g['weight_decay']}")

ema = copy.deepcopy(model).requires_grad_(False)
frozen_before = model.backbone[0].weight.clone()
x = torch.randn(48, 8)
y = (x[:, :3] * 2).argmax(1)
for step in range(12):
    loss = nn.functional.cross_entropy(forward(model, x), y)
    opt.zero_grad()
    loss.backward()
    norm = clip_grad_norm_([p for p in model.parameters() if p.requires_grad], max_norm=0.5)
    opt.step()
    with torch.no_grad():
        for pe, p in zip(ema.parameters(), model.parameters()):
            pe.lerp_(p, 0.2)
    if step % 3 == 0:
        print(f"step {step:2d} loss {loss.item():.4f} norm {norm.item():.4f}")

print("frozen untouched:", torch.equal(frozen_before, model.backbone[0].weight), model.backbone[0].weight.grad)
with torch.no_grad():
    print("acc %.3f ema acc %.3f" % tuple((forward(m, x).argmax(1) == y).float().mean() for m in (model, ema)))
    h = torch.relu(model.backbone[0](x))
    print("merge ok:", torch.allclose(model.backbone[2].merge()(h), model.backbone[2](h), atol=1e-5))
    print("flat norm %.4f" % parameters_to_vector(model.parameters()).norm())
