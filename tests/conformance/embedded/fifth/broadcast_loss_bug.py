"""Minimal example for the forum: my regression only learns the mean, and the cause is a (N, 1) against (N,) broadcast."""
import warnings
import torch
import torch.nn as nn

warnings.simplefilter("ignore")     # the warning that I should have read

x = torch.linspace(-1, 1, 64).unsqueeze(1)
torch.manual_seed(0)
y = 3 * x.squeeze() + 0.5 + 0.1 * torch.randn(64)      # shape (64,)


def run(fix):
    torch.manual_seed(0)
    model = nn.Linear(1, 1)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2)
    criterion = nn.MSELoss()
    for epoch in range(60):
        pred = model(x)                                 # shape (64, 1)
        if fix == "squeeze":
            pred = pred.squeeze(1)
            loss = criterion(pred, y)
        elif fix == "unsqueeze target":
            loss = criterion(pred, y.unsqueeze(1))
        else:
            loss = criterion(pred, y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    w, b = model.weight.item(), model.bias.item()
    print(f"{fix:18s} loss {loss.item():.4f}   w = {round(w, 3) + 0.0:.3f}   b = {b:.3f}")
    return loss


print("pred", tuple(nn.Linear(1, 1)(x).shape), "target", tuple(y.shape))
run("nothing")
run("squeeze")
run("unsqueeze target")

# Why: the difference is a 64 x 64 matrix of everything against everything
pred = torch.zeros(64, 1)
print("shape of pred - y:", tuple((pred - y).shape))
print("variance of y = %.4f, which is the loss it gets stuck at" % y.var(correction=0))

with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    nn.MSELoss()(pred, y)
print("warnings:", len(caught), "-", str(caught[0].message)[:72])

# what I have in all my code now
def checked_mse(a, b):
    assert a.shape == b.shape, f"shapes differ: {tuple(a.shape)} and {tuple(b.shape)}"
    return nn.functional.mse_loss(a, b)

try:
    checked_mse(pred, y)
except AssertionError as err:
    print("AssertionError:", err)
