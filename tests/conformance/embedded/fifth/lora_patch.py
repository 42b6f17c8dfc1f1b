"""Adds LoRA adapters to a frozen model, trains only these on a shifted task, and merges them back."""
import copy
import torch
from torch import nn

torch.manual_seed(5)


class LoRALinear(nn.Module):
    def __init__(self, base: nn.Linear, rank: int = 2, alpha: float = 4.0):
        super().__init__()
        self.base = base
        self.base.requires_grad_(False)
        self.A = nn.Parameter(torch.randn(rank, base.in_features) / base.in_features ** 0.5)
        self.B = nn.Parameter(torch.zeros(base.out_features, rank))
        self.scale = alpha / rank

    def forward(self, x):
        return self.base(x) + (x @ self.A.t() @ self.B.t()) * self.scale

    @torch.no_grad()
    def merged(self) -> nn.Linear:
        new = copy.deepcopy(self.base)
        new.weight += self.scale * self.B @ self.A
        return new


def replace(module, test, make):
    for name, child in module.named_children():
        if test(child):
            setattr(module, name, make(child))
        else:
            replace(child, test, make)
    return module


def fit(model, x, y, steps, lr):
    params = [p for p in model.parameters() if p.requires_grad]
    opt = torch.optim.AdamW(params, lr=lr, weight_decay=0.0)
    for s in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if s in (0, steps - 1):
            print(f"   step {s:3d} loss {loss.item():.4f}")


x = torch.randn(128, 10)
W = torch.randn(10, 3)
y_old = torch.tanh(x @ W)
y_new = torch.tanh(x @ (W + 0.5 * torch.randn(10, 1) @ torch.randn(1, 3)))

model = nn.Sequential(nn.Linear(10, 32), nn.GELU(), nn.Sequential(nn.Linear(32, 32), nn.GELU()), nn.Linear(32, 3))
print("pretraining")
fit(model, x, y_old, 80, 1e-2)
before = {k: v.clone() for k, v in model.state_dict().items()}

replace(model, lambda m: isinstance(m, nn.Linear), LoRALinear)
train_n = sum(p.numel() for p in model.parameters() if p.requires_grad)
all_n = sum(p.numel() for p in model.parameters())
print(f"trainable {train_n} of {all_n} ({100 * train_n / all_n:.1f}%)")
print("adapting")
fit(model, x, y_new, 80, 1e-2)

frozen = all(torch.equal(before[k.replace("base.", "")], v)
             for k, v in model.state_dict().items() if "base." in k)
print("base weights untouched:", frozen)

out_adapter = model(x)
replace(model, lambda m: isinstance(m, LoRALinear), lambda m: m.merged())
out_merged = model(x)
print("merged equals adapter:", torch.allclose(out_adapter, out_merged, atol=1e-5))
print(model)
print(f"loss after merging {nn.functional.mse_loss(out_merged, y_new).item():.4f}")
