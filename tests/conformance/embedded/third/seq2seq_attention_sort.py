"""Encoder-decoder GRU with additive attention and teacher forcing that learns to sort short digit strings."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

SOS, PAD = 10, 11


class Encoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb, padding_idx=PAD)
        self.rnn = nn.GRU(emb, hid, batch_first=True, bidirectional=True)
        self.bridge = nn.Linear(2 * hid, hid)

    def forward(self, src, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(self.embedding(src), lengths, batch_first=True, enforce_sorted=False)
        out, h = self.rnn(packed)
        out, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=src.size(1))
        return out, torch.tanh(self.bridge(torch.cat([h[0], h[1]], dim=1)))


class Decoder(nn.Module):
    def __init__(self, vocab, emb, hid):
        super().__init__()
        self.embedding = nn.Embedding(vocab, emb)
        self.score = nn.Sequential(nn.Linear(3 * hid, hid), nn.Tanh(), nn.Linear(hid, 1, bias=False))
        self.cell = nn.GRUCell(emb + 2 * hid, hid)
        self.out = nn.Linear(3 * hid, 10)

    def forward(self, token, h, memory, mask):
        query = h.unsqueeze(1).expand(-1, memory.size(1), -1)
        e = self.score(torch.cat([query, memory], dim=2)).squeeze(2).masked_fill(~mask, -1e9)
        attn = e.softmax(1)
        context = torch.einsum("bt,bth->bh", attn, memory)
        h = self.cell(torch.cat([self.embedding(token), context], dim=1), h)
        return self.out(torch.cat([h, context], dim=1)), h, attn


class Seq2Seq(nn.Module):
    def __init__(self, emb=16, hid=32):
        super().__init__()
        self.encoder, self.decoder = Encoder(12, emb, hid), Decoder(12, emb, hid)

    def forward(self, src, lengths, trg=None, teacher=0.5):
        memory, h = self.encoder(src, lengths)
        mask = src != PAD
        token = torch.full((src.size(0),), SOS)
        logits = []
        for t in range(src.size(1)):
            step, h, attn = self.decoder(token, h, memory, mask)
            logits.append(step)
            use_truth = trg is not None and random.random() < teacher
            token = trg[:, t].clamp(max=9) if use_truth else step.argmax(1)
        return torch.stack(logits, 1), attn


def batch(n, max_len=4):
    lengths = torch.randint(2, max_len + 1, (n,))
    src = torch.randint(0, 10, (n, max_len))
    src[torch.arange(max_len)[None] >= lengths[:, None]] = PAD
    return src, lengths, src.sort(dim=1).values


random.seed(0)
torch.manual_seed(0)
model = Seq2Seq()
opt = torch.optim.Adam(model.parameters(), lr=0.01)
for step in range(61):
    src, lengths, trg = batch(48)
    logits, _ = model(src, lengths, trg)
    loss = F.cross_entropy(logits.flatten(0, 1), trg.flatten(), ignore_index=PAD)
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    opt.step()
    if step % 20 == 0:
        print(f"step {step:2d} loss {loss.item():.2f}")
model.eval()
with torch.no_grad():
    src, lengths, trg = batch(100)
    logits, attn = model(src, lengths)
valid = trg != PAD
print("token accuracy %.1f" % (logits.argmax(2) == trg)[valid].float().mean())
print("attention on padding is zero:", bool(attn[src == PAD].sum() == 0), "rows sum to one:", torch.allclose(attn.sum(1), torch.ones(100)))
