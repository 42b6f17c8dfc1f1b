"""Train a character-level LSTM on a handful of names and sample new ones greedily."""
import torch
from torch import nn

torch.manual_seed(7)

names = ["anna", "hannah", "johanna", "susanna", "marianne", "nathan", "ethan", "jonathan", "joanna", "diana"]
chars = sorted(set("".join(names)))
stoi = {c: i + 2 for i, c in enumerate(chars)}
stoi["<"] = 0   # padding / start
stoi[">"] = 1   # end
itos = {i: c for c, i in stoi.items()}
V = len(stoi)


class CharLSTM(nn.Module):
    def __init__(self, vocab, emb=12, hidden=32):
        super().__init__()
        self.emb = nn.Embedding(vocab, emb)
        self.lstm = nn.LSTM(emb, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, x, state=None):
        h, state = self.lstm(self.emb(x), state)
        return self.out(h), state


def encode(name):
    return torch.tensor([0] + [stoi[c] for c in name] + [1])


seqs = nn.utils.rnn.pad_sequence([encode(n) for n in names], batch_first=True, padding_value=0)
inputs, targets = seqs[:, :-1], seqs[:, 1:].clone()
print("batch:", tuple(inputs.shape), "vocab:", V)

model = CharLSTM(V)
opt = torch.optim.Adam(model.parameters(), lr=0.02)
loss_fn = nn.CrossEntropyLoss(ignore_index=0)

for step in range(61):
    logits, _ = model(inputs)
    loss = loss_fn(logits.reshape(-1, V), targets.reshape(-1))
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 20 == 0:
        print(f"step {step:3d}: loss={loss.item():.4f}")


@torch.no_grad()
def complete(prefix, max_len=12):
    ids = torch.tensor([[0] + [stoi[c] for c in prefix]])
    logits, state = model(ids)
    text = prefix
    while len(text) < max_len:
        nxt = logits[0, -1].argmax().item()
        if nxt in (0, 1):
            break
        text += itos[nxt]
        logits, state = model(torch.tensor([[nxt]]), state)
    return text


for p in ["su", "d", "na", "jon"]:
    print(p, "->", complete(p))
