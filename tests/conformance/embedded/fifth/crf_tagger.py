"""A linear-chain CRF from scratch: forward algorithm, Viterbi, a brute-force check, and training on BIO tags."""
import itertools

import torch
from torch import nn, Tensor

TAGS = ["O", "B", "I"]


class CRF(nn.Module):
    def __init__(self, n_tags: int) -> None:
        super().__init__()
        self.n = n_tags
        self.start = nn.Parameter(torch.zeros(n_tags))
        self.end = nn.Parameter(torch.zeros(n_tags))
        self.trans = nn.Parameter(torch.zeros(n_tags, n_tags))     # from, to

    def score(self, emit: Tensor, tags: Tensor) -> Tensor:
        """emit (B, T, n), tags (B, T)"""
        s = self.start[tags[:, 0]] + self.end[tags[:, -1]]
        s = s + emit.gather(2, tags.unsqueeze(2)).sum((1, 2))
        return s + self.trans[tags[:, :-1], tags[:, 1:]].sum(1)

    def log_z(self, emit: Tensor) -> Tensor:
        a = self.start + emit[:, 0]
        for t in range(1, emit.shape[1]):
            a = torch.logsumexp(a.unsqueeze(2) + self.trans, dim=1) + emit[:, t]
        return torch.logsumexp(a + self.end, dim=1)

    def nll(self, emit: Tensor, tags: Tensor) -> Tensor:
        return (self.log_z(emit) - self.score(emit, tags)).mean()

    @torch.no_grad()
    def viterbi(self, emit: Tensor) -> Tensor:
        best = self.start + emit[:, 0]
        back = []
        for t in range(1, emit.shape[1]):
            value, arg = (best.unsqueeze(2) + self.trans).max(dim=1)
            best = value + emit[:, t]
            back.append(arg)
        last = (best + self.end).argmax(1)
        path = [last]
        for arg in reversed(back):
            path.append(arg.gather(1, path[-1].unsqueeze(1)).squeeze(1))
        return torch.stack(path[::-1], dim=1)


def brute_force_check() -> None:
    crf = CRF(3)
    for p in crf.parameters():
        nn.init.normal_(p)
    emit = torch.randn(1, 5, 3)
    paths = torch.tensor(list(itertools.product(range(3), repeat=5)))
    scores = crf.score(emit.expand(len(paths), -1, -1), paths)
    print("log Z: forward %.4f, brute force %.4f" % (crf.log_z(emit).item(), scores.logsumexp(0).item()))
    print("best path: viterbi", crf.viterbi(emit)[0].tolist(), "brute force", paths[scores.argmax()].tolist())
    # the gradient of log Z with respect to the emissions are the marginals
    e = emit.clone().requires_grad_()
    (marg,) = torch.autograd.grad(crf.log_z(e).sum(), e)
    print("marginals at position 2:", [f"{v:.4f}" for v in marg[0, 2].tolist()], "sum %.4f" % marg[0, 2].sum())


def corpus(n: int, length: int = 10) -> tuple[Tensor, Tensor]:
    tags = torch.zeros(n, length, dtype=torch.long)
    for row in tags:
        pos = int(torch.randint(0, 4, ()))
        while pos < length:
            span = int(torch.randint(1, 4, ()))
            row[pos] = 1
            row[pos + 1:pos + span] = 2
            pos += span + int(torch.randint(1, 4, ()))
    words = 10 * tags + torch.randint(0, 10, tags.shape)
    noise = torch.rand(tags.shape) < 0.25           # some words are ambiguous
    return torch.where(noise, torch.randint(0, 30, tags.shape), words), tags


def main() -> None:
    torch.manual_seed(4)
    brute_force_check()
    x, y = corpus(150)
    xt, yt = corpus(100)
    emb, crf = nn.Embedding(30, 3), CRF(3)
    opt = torch.optim.Adam([*emb.parameters(), *crf.parameters()], lr=0.1)
    for it in range(40):
        loss = crf.nll(emb(x), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        if it % 10 == 9:
            print(f"iter {it + 1} nll {loss.item():.4f}")
    with torch.no_grad():
        e = emb(xt)
    greedy, vit = e.argmax(-1), crf.viterbi(e)
    bad = lambda p: int(((p[:, :-1] == 0) & (p[:, 1:] == 2)).sum())
    print(f"greedy : accuracy {(greedy == yt).float().mean():.3f}, forbidden O->I: {bad(greedy)}")
    print(f"viterbi: accuracy {(vit == yt).float().mean():.3f}, forbidden O->I: {bad(vit)}")
    print("transition O->I %.2f, B->I %.2f" % (crf.trans[0, 2].item(), crf.trans[1, 2].item()))


main()
