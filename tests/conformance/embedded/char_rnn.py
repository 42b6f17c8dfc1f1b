"""A character model written by hand: one-hot inputs, a hidden state, clipped gradients."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(0)
text = "hello world"
chars = sorted(set(text))
ids = torch.tensor([chars.index(c) for c in text])
inputs = F.one_hot(ids[:-1], len(chars)).float()
targets = ids[1:]
i2h, h2o = nn.Linear(len(chars) + 8, 8), nn.Linear(8, len(chars))
parameters = list(i2h.parameters()) + list(h2o.parameters())
optimizer = torch.optim.Adam(parameters, lr=0.05)
for step in range(3):
    hidden, loss = torch.zeros(8), 0
    for x, y in zip(inputs, targets):
        hidden = torch.tanh(i2h(torch.cat([x, hidden])))
        loss = loss + F.cross_entropy(h2o(hidden).unsqueeze(0), y.unsqueeze(0))
    optimizer.zero_grad()
    loss.backward()
    norm = torch.nn.utils.clip_grad_norm_(parameters, 1.0)
    optimizer.step()
    print(step, loss.item() / len(targets), norm.item())
