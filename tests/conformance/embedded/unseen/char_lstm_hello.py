# Train a character level LSTM on one short sentence and sample from it greedily.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1)

text = "hello world, hello torch. "
chars = sorted(set(text))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
data = torch.tensor([stoi[c] for c in text], dtype=torch.long)


class CharLSTM(nn.Module):
    def __init__(self, vocab, hidden=24):
        super().__init__()
        self.embed = nn.Embedding(vocab, 16)
        self.lstm = nn.LSTM(16, hidden, batch_first=True)
        self.fc = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        out, state = self.lstm(self.embed(x), state)
        return self.fc(out), state


model = CharLSTM(len(chars))
print(model)
print("parameters:", sum(p.numel() for p in model.parameters()))

opt = torch.optim.Adam(model.parameters(), lr=0.05)
x = data[:-1].unsqueeze(0)
y = data[1:].unsqueeze(0)
for it in range(17):
    opt.zero_grad()
    logits, _ = model(x)
    loss = F.cross_entropy(logits.view(-1, len(chars)), y.view(-1))
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if it % 4 == 0:
        print(f"iter {it:2d} loss {loss.item():.4f} ppl {loss.exp().item():.3f}")

# greedy decoding, carry the hidden state
model.eval()
with torch.no_grad():
    idx = torch.tensor([[stoi["h"]]])
    state = None
    out = ["h"]
    for _ in range(20):
        logits, state = model(idx, state)
        idx = logits[:, -1].argmax(dim=-1, keepdim=True)
        out.append(itos[idx.item()])
print("sample:", repr("".join(out)))
h, c = state
print("state shapes:", h.shape, c.shape)
