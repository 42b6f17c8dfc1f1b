"""Two steps of each optimizer over one matrix."""
import torch

start = torch.tensor([[1.0, -2.0], [0.5, 3.0]])
made = {"AdamW": dict(lr=0.1, amsgrad=True), "RMSprop": dict(lr=0.1, momentum=0.9, centered=True), "Adagrad": dict(lr=0.1, lr_decay=0.1), "Adadelta": {},
        "Adamax": dict(lr=0.1), "NAdam": dict(lr=0.1, weight_decay=0.1), "RAdam": dict(lr=0.1), "SGD": dict(lr=0.1, momentum=0.9, nesterov=True, weight_decay=0.1)}
for name, options in made.items():
    w = start.clone().requires_grad_()
    optimizer = getattr(torch.optim, name)([w], **options)
    for _ in range(2):
        optimizer.zero_grad()
        (w ** 2).sum().backward()
        optimizer.step()
    print(name, w.tolist(), sorted(optimizer.state[w]))
w = start.clone().requires_grad_()
plain = torch.optim.RMSprop([{"params": [w], "lr": 0.5}], lr=0.1, weight_decay=0.01)
w.sum().backward()
plain.step()
print(plain, w.tolist())
