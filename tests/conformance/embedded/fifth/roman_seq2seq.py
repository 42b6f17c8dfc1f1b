"""Translates Roman numerals to decimal digits with a GRU encoder, additive attention and teacher forcing."""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(1999)
SRC = "#IVXLC"            # '#' pads
TGT = "#<>0123456789"     # '<' starts, '>' ends


def roman(n):
    out = ""
    for v, s in [(100, "C"), (90, "XC"), (50, "L"), (40, "XL"), (10, "X"), (9, "IX"), (5, "V"), (4, "IV"), (1, "I")]:
        while n >= v:
            out, n = out + s, n - v
    return out


def encode(nums):
    src = [torch.tensor([SRC.index(c) for c in roman(n)]) for n in nums]
    tgt = [torch.tensor([TGT.index(c) for c in f"<{n}>"]) for n in nums]
    pad = nn.utils.rnn.pad_sequence
    return pad(src, batch_first=True), pad(tgt, batch_first=True)


class Seq2Seq(nn.Module):
    def __init__(self, d=32):
        super().__init__()
        self.src = nn.Embedding(len(SRC), d, padding_idx=0)
        self.tgt = nn.Embedding(len(TGT), d, padding_idx=0)
        self.enc = nn.GRU(d, d, batch_first=True)
        self.cell = nn.GRUCell(2 * d, d)
        self.wq, self.wk, self.v = nn.Linear(d, d), nn.Linear(d, d, bias=False), nn.Linear(d, 1, bias=False)
        self.out = nn.Linear(2 * d, len(TGT))

    def encode(self, src):
        mem, _ = self.enc(self.src(src))
        mask = src == 0
        last = mem[torch.arange(len(src)), (~mask).sum(1) - 1]
        return mem, self.wk(mem), mask, last

    def step(self, tok, h, mem, keys, mask):
        e = self.v(torch.tanh(keys + self.wq(h).unsqueeze(1))).squeeze(-1)
        att = e.masked_fill(mask, float("-inf")).softmax(-1)
        ctx = torch.bmm(att.unsqueeze(1), mem).squeeze(1)
        h = self.cell(torch.cat([self.tgt(tok), ctx], -1), h)
        return self.out(torch.cat([h, ctx], -1)), h, att

    def forward(self, src, tgt):
        mem, keys, mask, h = self.encode(src)
        logits = []
        for i in range(tgt.shape[1] - 1):
            o, h, _ = self.step(tgt[:, i], h, mem, keys, mask)
            logits.append(o)
        return torch.stack(logits, 1)

    @torch.no_grad()
    def translate(self, src, max_len=5):
        mem, keys, mask, h = self.encode(src)
        tok = torch.full((len(src),), TGT.index("<"))
        toks, atts = [], []
        for _ in range(max_len):
            o, h, att = self.step(tok, h, mem, keys, mask)
            tok = o.argmax(-1)
            toks.append(tok)
            atts.append(att)
        text = ["".join(TGT[t] for t in row).split(">")[0] for row in torch.stack(toks, 1).tolist()]
        return text, torch.stack(atts, 1)


perm = (torch.randperm(120) + 1).tolist()
train, test = perm[:100], perm[100:]
model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=0.015)
src, tgt = encode(train)
for it in range(46):
    logits = model(src, tgt)
    loss = F.cross_entropy(logits.transpose(1, 2), tgt[:, 1:], ignore_index=0, label_smoothing=0.02)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if it % 15 == 0:
        print(f"{it:3d} loss {loss.item():.4f}")
model.eval()
text, att = model.translate(encode(test)[0])
for n, t in list(zip(test, text))[:6]:
    print(f"{roman(n):>9s} = {n:3d}  model: {t}")
print("test exact: %d of %d" % (sum(str(n) == t for n, t in zip(test, text)), len(test)))
print("attention shape", tuple(att.shape), "rows sum to one:", torch.allclose(att.sum(-1), torch.ones(att.shape[:2])))
