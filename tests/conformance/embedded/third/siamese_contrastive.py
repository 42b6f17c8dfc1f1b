"""Learn an embedding with triplet and InfoNCE losses and measure nearest-neighbour retrieval."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)
n_classes, dim = 5, 12
prototypes = torch.randn(n_classes, dim)
nuisance = torch.randn(3, dim) * 3


def sample(labels):
    return prototypes[labels] + 0.3 * torch.randn(len(labels), dim) + torch.randn(len(labels), 3) @ nuisance


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.f = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Linear(32, 8))

    def forward(self, x):
        return F.normalize(self.f(x), dim=-1)


def info_nce(a, b, temperature=0.2):
    logits = a @ b.T / temperature
    target = torch.arange(len(a))
    return (F.cross_entropy(logits, target) + F.cross_entropy(logits.T, target)) / 2


def retrieval(encode):
    labels = torch.arange(50) % n_classes
    x = sample(labels)
    with torch.no_grad():
        z = encode(x)
    sim = z @ z.T
    sim.fill_diagonal_(-float("inf"))
    return (labels[sim.argmax(1)] == labels).float().mean().item()


print("raw space recall@1 %.2f" % retrieval(lambda x: F.normalize(x, dim=-1)))

for name in ("triplet", "infonce"):
    torch.manual_seed(1)
    enc = Encoder()
    opt = torch.optim.Adam(enc.parameters(), lr=5e-3)
    triplet = nn.TripletMarginLoss(margin=0.5)
    for step in range(120):
        if name == "triplet":
            pos = torch.randint(0, n_classes, (64,))
            neg = (pos + torch.randint(1, n_classes, (64,))) % n_classes
            loss = triplet(enc(sample(pos)), enc(sample(pos)), enc(sample(neg)))
        else:
            labels = torch.randperm(n_classes)
            loss = sum(info_nce(enc(sample(labels)), enc(sample(labels))) for _ in range(2)) / 2
        opt.zero_grad()
        loss.backward()
        opt.step()
        if step == 0:
            first = loss.item()
    print(f"{name}: first loss {first:.3f}, last lower: {loss.item() < first}")
    print("   recall@1 %.1f" % retrieval(enc))

a = F.normalize(torch.tensor([[1.0, 2.0, 3.0]]), dim=1)
b = F.normalize(torch.tensor([[3.0, 2.0, 1.0]]), dim=1)
print("cosine %.4f distance %.4f" % (F.cosine_similarity(a, b).item(), F.pairwise_distance(a, b).item()))
print("margin ranking %.4f" % F.margin_ranking_loss(torch.tensor([0.2]), torch.tensor([0.6]), torch.tensor([1.0]), margin=0.1))
