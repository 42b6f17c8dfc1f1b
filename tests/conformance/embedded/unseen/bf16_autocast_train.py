# Train a small transformer encoder classifier under CPU bfloat16 autocast and compare with float32.
import torch
import torch.nn as nn

PAD = 0


def make_batch(n, L=10, vocab=12):
    """label = whether token 3 appears more often than token 4; variable lengths"""
    lens = torch.randint(5, L + 1, (n,))
    tok = torch.randint(1, vocab, (n, L))
    pad = torch.arange(L)[None, :] >= lens[:, None]
    tok = tok.masked_fill(pad, PAD)
    lab = ((tok == 3).sum(1) > (tok == 4).sum(1)).long()
    return tok, pad, lab


class Classifier(nn.Module):
    def __init__(self, vocab=12, d=16):
        super().__init__()
        self.emb = nn.Embedding(vocab, d, padding_idx=PAD)
        self.pos = nn.Parameter(torch.randn(10, d) * 0.02)
        layer = nn.TransformerEncoderLayer(d, nhead=2, dim_feedforward=32, dropout=0.0,
                                           batch_first=True, norm_first=True, activation="gelu")
        self.encoder = nn.TransformerEncoder(layer, num_layers=1, enable_nested_tensor=False)
        self.out = nn.Linear(d, 2)

    def forward(self, tok, pad):
        h = self.emb(tok) + self.pos[: tok.size(1)]
        h = self.encoder(h, src_key_padding_mask=pad)
        keep = (~pad).unsqueeze(-1).to(h.dtype)
        pooled = (h * keep).sum(1) / keep.sum(1)
        return self.out(pooled)


def train(use_amp, steps=5):
    torch.manual_seed(77)
    model = Classifier()
    opt = torch.optim.SGD(model.parameters(), lr=0.1, momentum=0.9)
    tok, pad, lab = make_batch(32)
    losses = []
    for _ in range(steps):
        opt.zero_grad()
        with torch.autocast(device_type="cpu", dtype=torch.bfloat16, enabled=use_amp):
            logits = model(tok, pad)
            loss = nn.functional.cross_entropy(logits, lab)
        loss.backward()
        opt.step()
        losses.append(loss.item())
    return model, losses, logits.dtype, lab


m32, l32, d32, lab = train(False)
m16, l16, d16, _ = train(True)
print("label counts:", lab.bincount(minlength=2).tolist())
print("logits dtypes:", d32, d16)
print("param dtype after amp:", m16.out.weight.dtype, "grad:", m16.out.weight.grad.dtype)
print("fp32:", [round(v, 4) for v in l32])
print("bf16:", [round(v, 2) for v in l16])
print("close:", all(abs(a - b) < 0.05 for a, b in zip(l32, l16)))
print("padding row stays zero grad:", m32.emb.weight.grad[PAD].abs().sum().item())

# which ops are cast
a, b = torch.randn(4, 4), torch.randn(4, 4)
with torch.autocast("cpu", dtype=torch.bfloat16):
    mm = a @ b
    print("matmul", mm.dtype, "| sum", mm.sum().dtype, "| add", (mm + a).dtype, "| softmax", mm.softmax(-1).dtype)
    with torch.autocast("cpu", enabled=False):
        print("inner disabled:", (a @ b).dtype)
print("error small:", bool((mm.float() - a @ b).abs().max() < 0.1))

# plain bf16 rounding
x = torch.tensor([1.0, 1.001, 3.14159, 1000.5, 1e-3])
print(x.bfloat16(), x.bfloat16().float() - x)
half = m32.to(torch.bfloat16)
print({p.dtype for p in half.parameters()})
