"""Mixture of experts layer with top-2 routing and a load balancing loss, checked against a dense reference."""
from __future__ import annotations

import dataclasses

import torch
import torch.nn.functional as F
from torch import nn


@dataclasses.dataclass(frozen=True)
class MoEConfig:
    dim: int = 16
    hidden: int = 32
    experts: int = 4
    top_k: int = 2
    balance: float = 0.02


class SwiGLU(nn.Module):
    def __init__(self, dim: int, hidden: int) -> None:
        super().__init__()
        self.w1 = nn.Linear(dim, hidden, bias=False)
        self.w2 = nn.Linear(hidden, dim, bias=False)
        self.w3 = nn.Linear(dim, hidden, bias=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.w2(F.silu(self.w1(x)) * self.w3(x))


class MoE(nn.Module):
    def __init__(self, cfg: MoEConfig) -> None:
        super().__init__()
        self.cfg = cfg
        self.gate = nn.Linear(cfg.dim, cfg.experts, bias=False)
        self.experts = nn.ModuleList([SwiGLU(cfg.dim, cfg.hidden) for _ in range(cfg.experts)])

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        shape = x.shape
        x = x.reshape(-1, shape[-1])
        probs = self.gate(x).softmax(dim=-1)
        weights, chosen = probs.topk(self.cfg.top_k, dim=-1)
        weights = weights / weights.sum(dim=-1, keepdim=True)
        out = torch.zeros_like(x)
        for e, expert in enumerate(self.experts):
            tok, slot = torch.where(chosen == e)
            if tok.numel() == 0:
                continue
            out.index_add_(0, tok, expert(x[tok]) * weights[tok, slot].unsqueeze(-1))
        load = F.one_hot(chosen, self.cfg.experts).sum(dim=(0, 1)).float() / chosen.numel()
        aux = self.cfg.experts * (load * probs.mean(dim=0)).sum()
        return out.view(shape), aux, load

    def dense(self, x: torch.Tensor) -> torch.Tensor:
        probs = self.gate(x).softmax(-1)
        weights, chosen = probs.topk(self.cfg.top_k, dim=-1)
        w = torch.zeros_like(probs).scatter(-1, chosen, weights / weights.sum(-1, keepdim=True))
        every = torch.stack([e(x) for e in self.experts], dim=-2)
        return torch.einsum("...e,...ed->...d", w, every)


def main() -> None:
    torch.manual_seed(0)
    cfg = MoEConfig()
    moe = MoE(cfg)
    x = torch.randn(4, 10, cfg.dim)
    y, aux, load = moe(x)
    print("output", list(y.shape), "aux %.3f" % aux.item(), "load sum %.2f" % load.sum().item())
    print("matches dense:", torch.allclose(y, moe.dense(x), atol=1e-5))

    # four kinds of tokens, each with its own linear rule
    rules = torch.randn(4, cfg.dim, cfg.dim) * 0.3
    means = torch.randn(4, cfg.dim) * 2
    opt = torch.optim.AdamW(moe.parameters(), lr=1e-2)
    for step in range(1, 81):
        kind = torch.randint(0, 4, (128,))
        tok = means[kind] + 0.5 * torch.randn(128, cfg.dim)
        target = torch.einsum("nd,nde->ne", tok, rules[kind])
        out, aux, load = moe(tok)
        mse = F.mse_loss(out, target)
        (mse + cfg.balance * aux).backward()
        opt.step()
        opt.zero_grad()
        if step % 20 == 0:
            print("step %d mse %.3f aux %.3f max load %.2f" % (step, mse.item(), aux.item(), load.max().item()))


if __name__ == "__main__":
    main()
