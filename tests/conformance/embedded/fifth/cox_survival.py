"""Fits a neural Cox proportional hazards model to censored survival times and prints the concordance index."""
import torch
from torch import nn, Tensor


def cox_partial_loss(risk: Tensor, time: Tensor, event: Tensor) -> Tensor:
    """Negative log partial likelihood (Breslow), mean over events."""
    order = torch.argsort(time, descending=True)
    risk, event = risk[order], event[order]
    log_cum = torch.logcumsumexp(risk, dim=0)          # everyone still at risk
    return -((risk - log_cum) * event).sum() / event.sum().clamp(min=1)


def concordance(risk: Tensor, time: Tensor, event: Tensor) -> float:
    earlier = (time[:, None] < time[None, :]) & (event[:, None] == 1)
    diff = risk[:, None] - risk[None, :]
    good = (diff > 0).float() + 0.5 * (diff == 0).float()
    return (good * earlier).sum().item() / earlier.sum().item()


def cohort(n: int):
    age = torch.randn(n)
    marker = torch.randn(n)
    treated = (torch.rand(n) < 0.5).float()
    log_hazard = 0.7 * age + 0.5 * marker ** 2 - 0.8 * treated
    t = torch.distributions.Weibull(torch.exp(-log_hazard / 1.5), torch.tensor(1.5)).sample()
    c = torch.distributions.Exponential(0.4).sample((n,))
    x = torch.stack([age, marker, treated], dim=1)
    return x, torch.minimum(t, c), (t <= c).float()


class RiskNet(nn.Module):
    def __init__(self, n_in: int, hidden: int = 16, p: float = 0.1):
        super().__init__()
        self.layers = nn.Sequential(
            nn.Linear(n_in, hidden), nn.ELU(), nn.AlphaDropout(p),
            nn.Linear(hidden, 1, bias=False),
        )

    def forward(self, x: Tensor) -> Tensor:
        return self.layers(x).squeeze(-1)


torch.manual_seed(77)
x, t, e = cohort(300)
xv, tv, ev = cohort(150)
print(f"events: {int(e.sum())} of {len(e)}, median follow-up {t.median():.3f}")

linear = nn.Linear(3, 1, bias=False)
deep = RiskNet(3)
for name, model in (("linear", linear), ("network", deep)):
    opt = torch.optim.RMSprop(model.parameters(), lr=0.01, weight_decay=1e-4)
    for i in range(100):
        model.train()
        loss = cox_partial_loss(model(x).flatten(), t, e)
        opt.zero_grad()
        loss.backward()
        opt.step()
    model.eval()
    with torch.no_grad():
        r = model(xv).flatten()
        print(f"{name:8s} train loss {loss.item():.4f}  validation loss "
              f"{cox_partial_loss(r, tv, ev).item():.4f}  C-index {concordance(r, tv, ev):.3f}")
print("linear coefficients:", [f"{v:+.3f}" for v in linear.weight[0].tolist()])

# Breslow baseline hazard of the network at three times
with torch.no_grad():
    r = deep(x).exp()
    for q in (0.3, 0.6, 1.0):
        at = [e[i] / r[t >= t[i]].sum() for i in range(len(t)) if t[i] <= q]
        h0 = torch.stack(at).sum()
        surv = torch.exp(-h0 * r.median())
        print(f"t={q:.1f}  baseline hazard {h0.item():.4f}  survival of a median patient {surv.item():.3f}")
