# Kaggle-like baseline: categorical embeddings + numeric columns, 3-fold CV, out-of-fold AUC.
import random
import numpy as np
import torch
import torch.nn as nn
from torch.utils.data import TensorDataset, DataLoader


def seed_everything(seed=2021):
    random.seed(seed)
    np.random.seed(seed)
    torch.manual_seed(seed)


class CFG:
    folds = 3
    epochs = 2
    bs = 20
    lr = 5e-2
    cat_dims = {"pclass": 3, "port": 4, "title": 5}


seed_everything()
N = 60
num = np.random.randn(N, 4).astype("float32")
num[np.random.rand(N, 4) < 0.1] = np.nan            # missing values
cats = np.stack([np.random.randint(0, d, N) for d in CFG.cat_dims.values()], 1)
logit = 1.5 * np.nan_to_num(num[:, 0]) - cats[:, 0] + 0.8 * (cats[:, 2] == 1) + 0.7
target = (np.random.rand(N) < 1 / (1 + np.exp(-logit))).astype("float32")

X = torch.from_numpy(num)
isna = torch.isnan(X)
print("missing per column:", isna.sum(0).tolist())
col_mean = torch.nanmean(X, dim=0)
X = torch.where(isna, col_mean, X)
X = (X - X.mean(0, keepdim=True)) / X.std(0, keepdim=True)
X = torch.cat([X, isna.any(1, keepdim=True).float()], dim=1)
C = torch.tensor(cats)
Y = torch.tensor(target)
print(X.shape, C.shape, "positive rate %.3f" % Y.mean().item())


class TabModel(nn.Module):
    def __init__(self, cat_dims, n_num):
        super().__init__()
        self.embs = nn.ModuleDict({k: nn.Embedding(d, min(4, (d + 1) // 2)) for k, d in cat_dims.items()})
        width = sum(e.embedding_dim for e in self.embs.values()) + n_num
        self.net = nn.Sequential(
            nn.Linear(width, 16, bias=False), nn.BatchNorm1d(16), nn.SiLU(), nn.Dropout(p=0.1), nn.Linear(16, 1)
        )

    def forward(self, xn, xc):
        e = [emb(xc[:, i]) for i, emb in enumerate(self.embs.values())]
        return self.net(torch.cat(e + [xn], dim=-1)).squeeze(-1)


def auc(y, p):
    pos, neg = p[y == 1], p[y == 0]
    diff = pos[:, None] - neg[None, :]
    return ((diff > 0).float() + 0.5 * (diff == 0).float()).mean().item()


oof = torch.zeros(N)
perm = torch.randperm(N)
for fold, val_idx in enumerate(perm.chunk(CFG.folds)):
    mask = torch.ones(N, dtype=torch.bool)
    mask[val_idx] = False
    loader = DataLoader(TensorDataset(X[mask], C[mask], Y[mask]), CFG.bs, shuffle=True, drop_last=True)
    model = TabModel(CFG.cat_dims, X.shape[1])
    pw = (Y[mask] == 0).sum() / (Y[mask] == 1).sum()
    crit = nn.BCEWithLogitsLoss(pos_weight=pw)
    opt = torch.optim.RMSprop(model.parameters(), lr=CFG.lr)
    for ep in range(CFG.epochs):
        model.train()
        tot = 0
        for xn, xc, yb in loader:
            opt.zero_grad()
            l = crit(model(xn, xc), yb)
            l.backward()
            opt.step()
            tot += l.item()
    model.eval()
    with torch.no_grad():
        oof[val_idx] = torch.sigmoid(model(X[val_idx], C[val_idx]))
    print(f"fold {fold}: last train loss {tot / len(loader):.4f} val auc {auc(Y[val_idx], oof[val_idx]):.4f}")

print("OOF AUC: %.4f" % auc(Y, oof))
print("OOF acc: %.4f" % ((oof > 0.5) == Y.bool()).float().mean().item())
