"""Tags the syllable nuclei of invented words with a bidirectional LSTM over packed sequences."""
import random
from typing import List, Tuple

import torch
import torch.nn as nn
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence

torch.manual_seed(11)
random.seed(11)

CONS = "ptkbdgmnslrw"
VOW = "aeiou"
PAD = 0
stoi = {c: i + 1 for i, c in enumerate(CONS + VOW)}


def make_word() -> Tuple[str, List[int]]:
    """r, l and n are syllabic (=nucleus) between two consonants, as in Czech or Slovak."""
    n = random.randint(3, 9)
    word = "".join(random.choice(CONS + "rln" + VOW * 2) for _ in range(n))
    tags = []
    for i, ch in enumerate(word):
        if ch in VOW:
            tags.append(1)
        elif ch in "rln" and 0 < i < n - 1 and word[i - 1] not in VOW and word[i + 1] not in VOW:
            tags.append(1)
        else:
            tags.append(0)
    return word, tags


def encode(batch):
    xs = [torch.tensor([stoi[c] for c in w]) for w, _ in batch]
    ys = [torch.tensor(t) for _, t in batch]
    lengths = torch.tensor([len(x) for x in xs])
    return (pad_sequence(xs, batch_first=True, padding_value=PAD),
            pad_sequence(ys, batch_first=True, padding_value=-100),
            lengths)


class Tagger(nn.Module):
    def __init__(self, n_sym: int, emb: int = 12, hid: int = 24) -> None:
        super().__init__()
        self.emb = nn.Embedding(n_sym, emb, padding_idx=PAD)
        self.lstm = nn.LSTM(emb, hid, batch_first=True, bidirectional=True)
        self.out = nn.Linear(2 * hid, 2)

    def forward(self, x: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        packed = pack_padded_sequence(self.emb(x), lengths, batch_first=True, enforce_sorted=False)
        h, _ = self.lstm(packed)
        h, _ = pad_packed_sequence(h, batch_first=True)
        return self.out(h)


words = [make_word() for _ in range(300)]
train, test = words[:240], words[240:]
model = Tagger(len(stoi) + 1)
opt = torch.optim.AdamW(model.parameters(), lr=0.02)
crit = nn.CrossEntropyLoss(ignore_index=-100)

for epoch in range(5):
    total = 0.0
    for i in range(0, len(train), 40):
        x, y, lens = encode(train[i:i + 40])
        logits = model(x, lens)
        loss = crit(logits.flatten(0, 1), y.flatten())
        opt.zero_grad()
        loss.backward()
        opt.step()
        total += loss.item()
    print(f"epoch {epoch}: mean loss {total / 6:.4f}")

model.eval()
with torch.inference_mode():
    x, y, lens = encode(test)
    pred = model(x, lens).argmax(-1)
    mask = y != -100
    print("test tag accuracy: %.4f" % (pred[mask] == y[mask]).float().mean().item())
    for k in range(3):
        w, t = test[k]
        print(w.ljust(10), t, pred[k, :lens[k]].tolist())
