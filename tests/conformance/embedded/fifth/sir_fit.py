"""Recovers the contact and recovery rates of an SIR epidemic by differentiating through the Euler simulation."""
import torch

torch.manual_seed(3)


def simulate(beta, gamma, i0=0.01, days=60, substeps=2):
    s = torch.tensor(1.0) - i0
    i = torch.tensor(i0)
    r = torch.tensor(0.0)
    dt = 1.0 / substeps
    daily = []
    for _ in range(days):
        for _ in range(substeps):
            new_inf = beta * s * i * dt
            new_rec = gamma * i * dt
            s = s - new_inf
            i = i + new_inf - new_rec
            r = r + new_rec
        daily.append(i)
    return torch.stack(daily), s, r


true_beta, true_gamma = 0.35, 0.12
with torch.no_grad():
    clean, _, _ = simulate(torch.tensor(true_beta), torch.tensor(true_gamma))
observed = clean + 0.005 * torch.randn_like(clean)
print("peak of prevalence %.4f on day %d" % (clean.max().item(), clean.argmax().item()))

# log parameters so that the rates stay positive
log_beta = torch.tensor(-1.5, requires_grad=True)
log_gamma = torch.tensor(-1.5, requires_grad=True)
opt = torch.optim.Adam([log_beta, log_gamma], lr=0.1)

for it in range(41):
    opt.zero_grad()
    sim, s_end, r_end = simulate(log_beta.exp(), log_gamma.exp())
    loss = 1000 * torch.mean((sim - observed) ** 2)
    loss.backward()
    if it % 10 == 0:
        print(f"it {it:2d} loss {loss.item():9.4f} beta {log_beta.exp().item():.4f} "
              f"gamma {log_gamma.exp().item():.4f}")
    opt.step()

b, g = log_beta.exp().item(), log_gamma.exp().item()
print(f"estimated R0 = {b / g:.2f} (truth {true_beta / true_gamma:.2f})")
print(f"never infected: {s_end.item():.3f}, recovered: {r_end.item():.3f}")
