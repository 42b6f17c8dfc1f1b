"""Check that accumulating gradients over micro batches equals one large batch, and show norm clipping."""
import torch
import torch.nn as nn

torch.manual_seed(0)

model = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))
x = torch.randn(32, 8)
y = torch.randint(0, 2, (32,))
loss_fn = nn.CrossEntropyLoss()


def grads():
    return [p.grad.clone() for p in model.parameters()]


# whole batch
model.zero_grad()
loss_fn(model(x), y).backward()
full = grads()

# four micro batches
model.zero_grad()
accum = 4
for xb, yb in zip(x.chunk(accum), y.chunk(accum)):
    (loss_fn(model(xb), yb) / accum).backward()
acc = grads()

print("equal:", all(torch.allclose(a, b, atol=1e-6) for a, b in zip(full, acc)))

# forgetting to divide
model.zero_grad()
for xb, yb in zip(x.chunk(accum), y.chunk(accum)):
    loss_fn(model(xb), yb).backward()
wrong = grads()
print("ratio without division: %.4f" % (wrong[0].norm() / full[0].norm()))

total = nn.utils.clip_grad_norm_(model.parameters(), max_norm=0.5)
after = torch.norm(torch.stack([p.grad.norm() for p in model.parameters()]))
print("norm before %.4f after %.4f" % (total, after))

nn.utils.clip_grad_value_(model.parameters(), 0.05)
print("largest entry %.4f" % max(p.grad.abs().max() for p in model.parameters()))

opt = torch.optim.SGD(model.parameters(), lr=0.1)
opt.zero_grad()
step_count = 0
for epoch in range(3):
    for i, (xb, yb) in enumerate(zip(x.split(4), y.split(4))):
        loss = loss_fn(model(xb), yb) / accum
        loss.backward()
        if (i + 1) % accum == 0:
            opt.step()
            opt.zero_grad()
            step_count += 1
print("optimizer steps:", step_count, "last loss %.4f" % (loss.item() * accum))
