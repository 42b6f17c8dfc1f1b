"""An encoder and a decoder of GRU cells, teacher forcing, one step of training."""
import random

import torch
import torch.nn as nn

random.seed(0)
torch.manual_seed(4)
SOS = 0


class Encoder(nn.Module):
    def __init__(self, vocab, hidden):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.gru(self.dropout(self.embedding(x)))


class Decoder(nn.Module):
    def __init__(self, hidden, vocab):
        super().__init__()
        self.embedding = nn.Embedding(vocab, hidden)
        self.gru = nn.GRU(hidden, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, outputs, hidden, target=None):
        token = torch.empty(outputs.size(0), 1, dtype=torch.long).fill_(SOS)
        steps = []
        for i in range(4):
            o, hidden = self.gru(torch.relu(self.embedding(token)), hidden)
            o = self.out(o)
            steps.append(o)
            if target is not None and random.random() < 0.5:
                token = target[:, i].unsqueeze(1)
            else:
                _, topi = o.topk(1)
                token = topi.squeeze(-1).detach()
        return nn.functional.log_softmax(torch.cat(steps, dim=1), dim=-1), hidden


enc, dec = Encoder(9, 8), Decoder(8, 7)
opts = [torch.optim.Adam(m.parameters(), lr=0.01) for m in (enc, dec)]
src, tgt = torch.randint(1, 9, (3, 5)), torch.randint(1, 7, (3, 4))
for _ in range(2):
    for o in opts:
        o.zero_grad()
    out, h = enc(src)
    logp, _ = dec(out, h, tgt)
    loss = nn.NLLLoss()(logp.view(-1, logp.size(-1)), tgt.view(-1))
    loss.backward()
    for o in opts:
        o.step()
    print(loss.item())
