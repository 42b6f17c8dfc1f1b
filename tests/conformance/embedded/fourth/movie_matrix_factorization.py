"""Movie recommender: biased matrix factorization trained with sparse embeddings."""
import torch
from torch import nn
from torch.utils.data import DataLoader, Dataset, random_split


class Ratings(Dataset):
    """Simulated (user, movie, rating) triples."""

    def __init__(self, n_users=40, n_movies=30, n=1200, rank=2):
        U = torch.randn(n_users, rank) * 0.7
        V = torch.randn(n_movies, rank) * 0.7
        ub, mb = torch.randn(n_users) * 0.3, torch.randn(n_movies) * 0.5
        self.user = torch.randint(n_users, (n,))
        self.movie = torch.randint(n_movies, (n,))
        r = 3.2 + (U[self.user] * V[self.movie]).sum(1) + ub[self.user] + mb[self.movie]
        self.rating = (r + 0.2 * torch.randn(n)).clamp(0.5, 5.0)

    def __len__(self):
        return len(self.rating)

    def __getitem__(self, i):
        return self.user[i], self.movie[i], self.rating[i]


class MF(nn.Module):
    def __init__(self, n_users, n_movies, rank=4):
        super().__init__()
        self.user = nn.Embedding(n_users, rank, sparse=True)
        self.movie = nn.Embedding(n_movies, rank, sparse=True)
        self.user_bias = nn.Embedding(n_users, 1, sparse=True)
        self.movie_bias = nn.Embedding(n_movies, 1, sparse=True)
        for e in (self.user, self.movie):
            nn.init.normal_(e.weight, std=0.1)
        for e in (self.user_bias, self.movie_bias):
            nn.init.zeros_(e.weight)
        self.register_buffer("mu", torch.tensor(0.0))

    def forward(self, u, m):
        dot = (self.user(u) * self.movie(m)).sum(1)
        return self.mu + dot + self.user_bias(u).squeeze(1) + self.movie_bias(m).squeeze(1)


torch.manual_seed(0)
data = Ratings()
train_set, val_set = random_split(data, [1000, 200])
train_dl = DataLoader(train_set, batch_size=100, shuffle=True)
val_dl = DataLoader(val_set, batch_size=200)
model = MF(40, 30)
model.mu.fill_(data.rating[train_set.indices].mean())
opt = torch.optim.SparseAdam(list(model.parameters()), lr=0.05)
loss_fn = nn.MSELoss()

for epoch in range(1, 9):
    total = 0.0
    for u, m, r in train_dl:
        opt.zero_grad()
        loss = loss_fn(model(u, m), r)
        loss.backward()
        opt.step()
        total += loss.item()
    if epoch % 2 == 0:
        with torch.no_grad():
            u, m, r = next(iter(val_dl))
            rmse = loss_fn(model(u, m), r).sqrt().item()
        print(f"epoch {epoch} train mse {total / len(train_dl):.3f} val rmse {rmse:.3f}")

base = (data.rating[val_set.indices] - model.mu).pow(2).mean().sqrt().item()
print("baseline rmse %.3f" % base)
print("gradient is sparse:", model.user.weight.grad.is_sparse)
with torch.no_grad():
    scores = model(torch.zeros(30, dtype=torch.long), torch.arange(30))
print("top 3 for user 0:", scores.topk(3).indices.tolist())
