"""Reads letters from noisy morse-like tone sequences with a small conv-GRU network and CTC loss."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(1844)

MORSE = {"a": ".-", "e": ".", "t": "-"}
LETTERS = "_" + "".join(sorted(MORSE))     # 0 is the blank


def key(word):
    out = [0, 0]
    for ch in word:
        for sym in MORSE[ch]:
            out += [1] * (2 if sym == "." else 6) + [0] * 2
        out += [0] * 4
    return torch.tensor(out, dtype=torch.float32)


def batch(n):
    words, sigs, targets = [], [], []
    keys = sorted(MORSE)
    for _ in range(n):
        k = int(torch.randint(1, 4, ()))
        w = "".join(keys[i] for i in torch.randint(0, len(keys), (k,)).tolist())
        words.append(w)
        s = key(w)
        sigs.append(s + 0.1 * torch.randn_like(s))
        targets.append(torch.tensor([LETTERS.index(c) for c in w]))
    lengths = torch.tensor([len(s) for s in sigs])
    x = nn.utils.rnn.pad_sequence(sigs, batch_first=True)
    return words, x, lengths, torch.cat(targets), torch.tensor([len(w) for w in words])


class Reader(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 24, 7, stride=2, padding=3)
        self.rnn = nn.GRU(24, 24, batch_first=True, bidirectional=True)
        self.fc = nn.Linear(48, len(LETTERS))

    def forward(self, x, lengths):
        h = F.relu(self.conv(x.unsqueeze(1))).transpose(1, 2)
        h, _ = self.rnn(h)
        logp = self.fc(h).log_softmax(-1)
        return logp, (lengths + 1) // 2


def greedy(logp, length):
    best = logp[:length].argmax(-1)
    best = torch.unique_consecutive(best)
    return "".join(LETTERS[i] for i in best.tolist() if i != 0)


net = Reader()
ctc = nn.CTCLoss(blank=0, zero_infinity=True)
opt = torch.optim.Adam(net.parameters(), lr=0.03)
for step in range(40):
    _, x, lens, tgt, tgt_lens = batch(16)
    logp, out_lens = net(x, lens)
    loss = ctc(logp.transpose(0, 1), tgt, out_lens, tgt_lens)     # CTC wants (T, N, C)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 2.0)
    opt.step()
    if step % 8 == 7:
        print("step %2d  ctc %.3f" % (step + 1, loss.item()))

words, x, lens, _, _ = batch(30)
net.eval()
with torch.no_grad():
    logp, out_lens = net(x, lens)
read = [greedy(lp, n) for lp, n in zip(logp, out_lens)]
for w, r in list(zip(words, read))[:6]:
    print(f"{w:4s} read as {r!r}")
print("words exactly right: %d of %d" % (sum(w == r for w, r in zip(words, read)), len(words)))
