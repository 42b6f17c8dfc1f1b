# Explore a made-up survey with tensors only: summaries, groups, histogram, correlation, regression.
import numpy as np
import torch

rng = np.random.default_rng(5)
n = 60
age_np = rng.integers(18, 70, size=n)
income_np = (1.2 * age_np + rng.normal(0, 12, n)).astype(np.float32)
group_np = rng.integers(0, 4, size=n)

age = torch.from_numpy(age_np)
income = torch.from_numpy(income_np)
group = torch.as_tensor(group_np)
print(age.dtype, income.dtype, group.dtype)

# ---- summaries
print("age min/max:", age.min().item(), age.max().item())
print("median:", age.median().item(), "mode:", torch.mode(age).values.item())
std, mean = torch.std_mean(income)
print(f"income mean {mean:.3f} std {std:.3f}")
q = torch.quantile(income, torch.tensor([0.1, 0.25, 0.5, 0.75, 0.9]))
print("quantiles:", [round(v, 3) for v in q.tolist()])

# ---- group by
names = ["north", "south", "east", "west"]
uniq, inverse, counts = torch.unique(group, return_inverse=True, return_counts=True)
sums = torch.zeros(4).index_add_(0, group, income)
maxes = torch.full((4,), -np.inf).scatter_reduce(0, group, income, reduce="amax")
for u, c in zip(uniq.tolist(), counts.tolist()):
    print(f"{names[u]:>6}: n={c:2d} mean={sums[u] / c:8.3f} max={maxes[u]:8.3f}")

# ---- age brackets
edges = torch.tensor([25, 35, 45, 55, 65])
bracket = torch.bucketize(age, edges, right=True)
print("bracket sizes:", torch.bincount(bracket, minlength=6).tolist())
crosstab = torch.zeros(6, 4, dtype=torch.int32)
crosstab.index_put_((bracket, group), torch.ones(n, dtype=torch.int32), accumulate=True)
print(crosstab)
print("row totals", crosstab.sum(1), "col totals", crosstab.sum(0))

# ---- histogram
h = torch.histc(income, bins=8, min=0, max=120)
for lo, c in zip(range(0, 120, 15), h.int().tolist()):
    print(f"{lo:4d} {'#' * c}")

# ---- correlation and least squares
xy = torch.stack([age.float(), income])
print("corr:\n", torch.corrcoef(xy))
A = torch.stack([torch.ones(n), age.float()], dim=1).double()
sol = torch.linalg.lstsq(A, income.double().unsqueeze(1)).solution
print("intercept %.4f slope %.4f" % tuple(sol.flatten().tolist()))
resid = income - (A @ sol).squeeze(1).float()
print("R^2: %.4f" % (1 - resid.var(unbiased=False) / income.var(unbiased=False)).item())

# ---- outliers and ranks
z = (income - mean) / std
print("outliers at", torch.nonzero(z.abs() > 2).flatten().tolist())
rank = income.argsort().argsort()
print("spearman-ish:", round(torch.corrcoef(torch.stack([rank.double(), age.argsort(stable=True).argsort().double()]))[0, 1].item(), 4))
smooth = income[age.argsort(stable=True)].unfold(0, 10, 10).mean(-1)
print("smoothed:", smooth.numpy().round(2).tolist())
