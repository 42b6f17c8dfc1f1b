# Reverse a digit sequence: bidirectional GRU encoder (packed), GRUCell decoder with additive attention.
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.nn.utils.rnn import pad_sequence, pack_padded_sequence, pad_packed_sequence

torch.manual_seed(55)
PAD, BOS, V = 0, 1, 8


def make_data(n):
    src = [torch.randint(2, V, (int(torch.randint(2, 4, (1,))),)) for _ in range(n)]
    tgt = [s.flip(0) for s in src]
    return pad_sequence(src, batch_first=True, padding_value=PAD), \
        pad_sequence(tgt, batch_first=True, padding_value=PAD), torch.tensor([len(s) for s in src])


class Encoder(nn.Module):
    def __init__(self, emb, hid):
        super().__init__()
        self.emb = nn.Embedding(V, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hid, bidirectional=True, batch_first=True)

    def forward(self, src, lens):
        packed = pack_padded_sequence(self.emb(src), lens, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        out, _ = pad_packed_sequence(out, batch_first=True)
        return out, torch.cat([h[0], h[1]], dim=-1)


class Attention(nn.Module):
    def __init__(self, dim):
        super().__init__()
        self.W = nn.Linear(dim, dim, bias=False)
        self.U = nn.Linear(dim, dim)
        self.v = nn.Linear(dim, 1, bias=False)

    def forward(self, query, keys, mask):
        e = self.v(torch.tanh(self.W(query).unsqueeze(1) + self.U(keys))).squeeze(-1)
        a = F.softmax(e.masked_fill(~mask, -1e9), dim=-1)
        return torch.bmm(a.unsqueeze(1), keys).squeeze(1), a


class Decoder(nn.Module):
    def __init__(self, emb, dim):
        super().__init__()
        self.emb = nn.Embedding(V, emb)
        self.cell = nn.GRUCell(emb + dim, dim)
        self.att = Attention(dim)
        self.out = nn.Linear(2 * dim, V)

    def forward(self, h, keys, mask, tgt=None, steps=3):
        tok = torch.full((h.size(0),), BOS, dtype=torch.long)
        logits, maps = [], []
        for t in range(steps):
            ctx, a = self.att(h, keys, mask)
            h = self.cell(torch.cat([self.emb(tok), ctx], -1), h)
            o = self.out(torch.cat([h, ctx], -1))
            tok = tgt[:, t] if tgt is not None else o.argmax(-1)
            logits.append(o)
            maps.append(a)
        return torch.stack(logits, 1), torch.stack(maps, 1)


src, tgt, lens = make_data(24)
print("src", tuple(src.shape), "lens", lens.tolist())
enc, dec = Encoder(8, 10), Decoder(8, 20)
params = list(enc.parameters()) + list(dec.parameters())
opt = torch.optim.SGD(params, lr=0.5, momentum=0.9)
mask = src != PAD
for epoch in range(3):
    keys, h = enc(src, lens)
    logits, _ = dec(h, keys, mask, tgt, steps=tgt.size(1))
    loss = F.cross_entropy(logits.permute(0, 2, 1), tgt, ignore_index=PAD)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(params, 1.0)
    opt.step()
    print(f"epoch {epoch} loss {loss.item():.4f}")

with torch.inference_mode():
    keys, h = enc(src[:3], lens[:3])
    logits, maps = dec(h, keys, mask[:3, :keys.size(1)], steps=3)
print("prediction shape:", tuple(logits.argmax(-1).shape), "attention rows sum to 1:",
      torch.allclose(maps.sum(-1), torch.ones(3, 3)))
print("no weight on padding:", maps.masked_select(~mask[:3, None, :keys.size(1)].expand_as(maps)).sum().item())
print("mean loss of copy %.4f" % F.nll_loss(logits.log_softmax(-1).flatten(0, 1), tgt[:3].flatten(), ignore_index=PAD))
