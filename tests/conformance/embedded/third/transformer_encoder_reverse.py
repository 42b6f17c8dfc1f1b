"""Train a small nn.TransformerEncoder to reverse short sequences of digits."""
import argparse
import math

import torch
import torch.nn as nn


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, max_len: int = 64):
        super().__init__()
        pos = torch.arange(max_len).unsqueeze(1)
        div = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, d_model)
        pe[:, 0::2] = torch.sin(pos * div)
        pe[:, 1::2] = torch.cos(pos * div)
        self.register_buffer("pe", pe)

    def forward(self, x):
        return x + self.pe[: x.size(1)]


class Reverser(nn.Module):
    def __init__(self, vocab, d_model, heads, layers):
        super().__init__()
        self.embed = nn.Embedding(vocab, d_model)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, heads, dim_feedforward=2 * d_model,
                                           dropout=0.0, batch_first=True, norm_first=True)
        self.encoder = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(d_model, vocab)

    def forward(self, tokens):
        return self.head(self.encoder(self.pos(self.embed(tokens))))


def get_args():
    p = argparse.ArgumentParser()
    p.add_argument("--seq-len", type=int, default=5)
    p.add_argument("--d-model", type=int, default=32)
    p.add_argument("--heads", type=int, default=4)
    p.add_argument("--layers", type=int, default=2)
    p.add_argument("--steps", type=int, default=80)
    p.add_argument("--lr", type=float, default=3e-3)
    p.add_argument("--seed", type=int, default=0)
    return p.parse_args()


def main():
    args = get_args()
    torch.manual_seed(args.seed)
    model = Reverser(10, args.d_model, args.heads, args.layers)
    optim = torch.optim.AdamW(model.parameters(), lr=args.lr)
    sched = torch.optim.lr_scheduler.CosineAnnealingLR(optim, T_max=args.steps)
    for step in range(args.steps):
        x = torch.randint(0, 10, (32, args.seq_len))
        y = x.flip(1)
        logits = model(x)
        loss = nn.functional.cross_entropy(logits.transpose(1, 2), y)
        optim.zero_grad(set_to_none=True)
        loss.backward()
        optim.step()
        sched.step()
        if step % 20 == 0 or step == args.steps - 1:
            print(f"step {step:3d} loss {loss.item():.3f} lr {sched.get_last_lr()[0]:.5f}")
    model.eval()
    with torch.no_grad():
        x = torch.randint(0, 10, (64, args.seq_len))
        acc = (model(x).argmax(-1) == x.flip(1)).float().mean()
    print(f"token accuracy {acc:.2f}")


if __name__ == "__main__":
    main()
