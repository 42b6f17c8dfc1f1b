"""Encoder-decoder GRU with additive attention that learns to reverse a sequence of digits."""
import random

import torch
import torch.nn as nn
import torch.nn.functional as F

SOS, VOCAB, LEN, HID = 6, 7, 4, 32


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 16)
        self.gru = nn.GRU(16, HID, batch_first=True)

    def forward(self, x):
        return self.gru(self.embedding(x))


class BahdanauAttention(nn.Module):
    def __init__(self):
        super().__init__()
        self.Wa = nn.Linear(HID, HID)
        self.Ua = nn.Linear(HID, HID)
        self.Va = nn.Linear(HID, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(2)
        weights = F.softmax(scores, dim=-1).unsqueeze(1)
        return torch.bmm(weights, keys), weights


class AttnDecoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(VOCAB, 16)
        self.attention = BahdanauAttention()
        self.gru = nn.GRU(16 + HID, HID, batch_first=True)
        self.out = nn.Linear(HID, VOCAB)

    def forward(self, enc_out, hidden, target=None, teacher_ratio=0.5):
        tok = torch.full((enc_out.size(0), 1), SOS)
        outputs, attns = [], []
        for i in range(LEN):
            query = hidden.permute(1, 0, 2)
            context, w = self.attention(query, enc_out)
            o, hidden = self.gru(torch.cat([self.embedding(tok), context], dim=2), hidden)
            logit = self.out(o)
            outputs.append(logit)
            attns.append(w)
            if target is not None and random.random() < teacher_ratio:
                tok = target[:, i].unsqueeze(1)
            else:
                tok = logit.argmax(-1).detach()
        return torch.cat(outputs, 1), torch.cat(attns, 1)


random.seed(0)
torch.manual_seed(0)
encoder, decoder = Encoder(), AttnDecoder()
params = list(encoder.parameters()) + list(decoder.parameters())
opt = torch.optim.Adam(params, lr=1e-2)
for step in range(1, 91):
    src = torch.randint(0, 6, (32, LEN))
    tgt = src.flip(1)
    enc_out, hidden = encoder(src)
    logits, _ = decoder(enc_out, hidden, tgt)
    loss = F.cross_entropy(logits.reshape(-1, VOCAB), tgt.reshape(-1))
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 30 == 0:
        print("step %d loss %.3f" % (step, loss.item()))

with torch.no_grad():
    src = torch.randint(0, 6, (100, LEN))
    logits, attn = decoder(*encoder(src))
    pred = logits.argmax(-1)
    print("token accuracy %.2f" % (pred == src.flip(1)).float().mean().item())
    print("src ", src[0].tolist())
    print("pred", pred[0].tolist())
    print("attention rows sum to one:", torch.allclose(attn.sum(-1), torch.ones(100, LEN)))
