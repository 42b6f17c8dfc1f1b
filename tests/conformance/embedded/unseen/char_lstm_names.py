# Character-level LSTM that learns a handful of names and then samples new ones.
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)

names = ["anna", "emma", "ava", "mia", "ella", "nina", "lena", "mila", "dana", "lara"]
chars = ["."] + sorted(set("".join(names)))
stoi = {c: i for i, c in enumerate(chars)}
itos = {i: c for c, i in stoi.items()}
V = len(chars)
print("vocab:", "".join(chars), V)

maxlen = max(map(len, names)) + 1
x = torch.zeros(len(names), maxlen, dtype=torch.long)
y = torch.full((len(names), maxlen), -100, dtype=torch.long)
for i, n in enumerate(names):
    ids = torch.tensor([stoi[c] for c in n])
    x[i, 1:1 + len(n)] = ids
    y[i, :len(n)] = ids
    y[i, len(n)] = 0
print(x[:3])
print(y[:3])


class CharLSTM(nn.Module):
    def __init__(self, vocab, emb=8, hid=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, hid, num_layers=1, batch_first=True)
        self.head = nn.Linear(hid, vocab)

    def forward(self, idx, state=None):
        h, state = self.lstm(self.emb(idx), state)
        return self.head(h), state


model = CharLSTM(V)
opt = torch.optim.AdamW(model.parameters(), lr=2e-2)

for step in range(17):
    logits, _ = model(x)
    loss = F.cross_entropy(logits.view(-1, V), y.view(-1), ignore_index=-100)
    opt.zero_grad()
    loss.backward()
    gn = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 4 == 0:
        print(f"step {step:2d} loss {loss.item():.4f} grad norm {gn.item():.4f}")


@torch.no_grad()
def sample(temperature=1.0, maxlen=8):
    model.eval()
    idx = torch.zeros(1, 1, dtype=torch.long)
    state = None
    out = []
    for _ in range(maxlen):
        logits, state = model(idx, state)
        p = F.softmax(logits[:, -1] / temperature, dim=-1)
        idx = torch.multinomial(p, num_samples=1)
        if idx.item() == 0:
            break
        out.append(itos[idx.item()])
    return "".join(out)


g = [sample(0.8) for _ in range(5)]
print("samples:", g)

with torch.no_grad():
    lp, _ = model(x)
    nll = F.cross_entropy(lp.transpose(1, 2), y, reduction="none")
    per_name = nll.sum(1) / (y != -100).sum(1)
for n, v in zip(names, per_name):
    print(f"{n:6s} {v.item():.3f}")
