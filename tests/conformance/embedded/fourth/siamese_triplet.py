"""Metric learning with a shared encoder, triplet margin loss and nearest-centroid few-shot evaluation."""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(8)
N_CLASSES, DIM = 12, 20
centres = torch.randn(N_CLASSES, 5)
mixing = torch.randn(5, DIM)


def draw(labels):
    latent = centres[labels] + 0.25 * torch.randn(len(labels), 5)
    nuisance = 3 * torch.randn(len(labels), 1) * torch.ones(DIM)
    return torch.tanh(latent @ mixing * 0.4) + 0.3 * nuisance


class Encoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(DIM, 48), nn.PReLU(), nn.Linear(48, 8))

    def forward(self, x):
        return F.normalize(self.net(x), p=2, dim=-1)


def few_shot(encoder, classes, shots=3, queries=10):
    labels = torch.tensor(classes)
    support = encoder(draw(labels.repeat_interleave(shots))).view(len(classes), shots, -1).mean(1)
    query = encoder(draw(labels.repeat_interleave(queries)))
    truth = torch.arange(len(classes)).repeat_interleave(queries)
    return (torch.cdist(query, support).argmin(1) == truth).float().mean().item()


encoder = Encoder()
criterion = nn.TripletMarginLoss(margin=0.4, p=2)
opt = torch.optim.Adam(encoder.parameters(), lr=4e-3)
held_out = [8, 9, 10, 11]      # never seen in training
with torch.no_grad():
    print("before: held out accuracy %.2f" % few_shot(encoder, held_out))

for step in range(1, 121):
    a_lab = torch.randint(0, 8, (48,))
    n_lab = (a_lab + torch.randint(1, 8, (48,))) % 8
    anchor, pos, neg = encoder(draw(a_lab)), encoder(draw(a_lab)), encoder(draw(n_lab))
    loss = criterion(anchor, pos, neg)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if step % 40 == 0:
        d_ap = F.pairwise_distance(anchor, pos).mean().item()
        d_an = F.pairwise_distance(anchor, neg).mean().item()
        print("step %d loss %.3f d(a,p) %.2f d(a,n) %.2f" % (step, loss.item(), d_ap, d_an))

with torch.no_grad():
    print("after: seen classes %.2f" % few_shot(encoder, [0, 1, 2, 3]))
    print("after: held out accuracy %.2f" % few_shot(encoder, held_out))
