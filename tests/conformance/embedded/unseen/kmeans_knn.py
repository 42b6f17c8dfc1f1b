# k-means++ and a k-nearest-neighbour classifier written with cdist, topk and scatter.
import torch


def make_blobs(n_per, centers, std=0.6):
    k, d = centers.shape
    pts = centers.repeat_interleave(n_per, 0) + std * torch.randn(k * n_per, d)
    lab = torch.arange(k).repeat_interleave(n_per)
    order = torch.randperm(len(pts))
    return pts[order], lab[order]


def kmeans_pp(X, k):
    idx = [torch.randint(len(X), (1,)).item()]
    for _ in range(k - 1):
        d2 = torch.cdist(X, X[idx]).min(dim=1).values ** 2
        idx.append(torch.multinomial(d2 / d2.sum(), 1).item())
    return X[idx].clone()


def kmeans(X, k, iters=20, tol=1e-5):
    C = kmeans_pp(X, k)
    for it in range(iters):
        assign = torch.cdist(X, C).argmin(1)
        sums = torch.zeros_like(C).index_add_(0, assign, X)
        counts = torch.bincount(assign, minlength=k).clamp_min(1)
        new = sums / counts.unsqueeze(1)
        shift = (new - C).norm(dim=1).max()
        C = new
        if shift < tol:
            break
    inertia = (X - C[assign]).pow(2).sum()
    return C, assign, inertia.item(), it + 1


def knn_predict(Xtr, ytr, Xte, k=5, n_classes=4, p=2.0):
    d, nn_idx = torch.cdist(Xte, Xtr, p=p).topk(k, largest=False)
    votes = torch.zeros(len(Xte), n_classes)
    votes.scatter_add_(1, ytr[nn_idx], 1.0 / (d + 1e-6))
    return votes.argmax(1)


def silhouette(X, lab):
    D = torch.cdist(X, X)
    onehot = torch.nn.functional.one_hot(lab).float()
    sums = D @ onehot
    n = onehot.sum(0)
    own = sums.gather(1, lab[:, None]).squeeze(1) / (n[lab] - 1)
    means = sums / n
    other = means.scatter(1, lab[:, None], float("inf")).min(1).values
    return ((other - own) / torch.maximum(own, other)).mean().item()


torch.manual_seed(17)
centers = torch.tensor([[0., 0.], [4., 0.], [0., 4.], [4., 4.]])
X, y = make_blobs(15, centers)
print("X", tuple(X.shape), "lims", X.amin(0).tolist() == X.min(0)[0].tolist())

for k in range(2, 6):
    C, a, inertia, it = kmeans(X, k)
    print(f"k={k} iters={it} inertia={inertia:.4f} silhouette={silhouette(X, a):.4f}")

C, a, _, _ = kmeans(X, 4)
order = (C.round() @ torch.tensor([1.0, 10.0])).argsort()
print("centers:\n", C[order])
cont = torch.zeros(4, 4, dtype=torch.long)
for i, j in zip(a.tolist(), y.tolist()):
    cont[i, j] += 1
print("purity %.3f" % (cont.max(1).values.sum() / len(X)).item())

split = 45
for p in (1.0, 2.0, float("inf")):
    pred = knn_predict(X[:split], y[:split], X[split:], p=p)
    print(f"knn p={p}: acc {(pred == y[split:]).double().mean().item():.4f}")
vals, idx = torch.kthvalue(torch.cdist(X, X), 2, dim=1)
print("closest pair distance %.4f, median nn distance %.4f" % (vals.min(), vals.median()))
print("nearest to origin:", X.norm(dim=1).argsort()[:4].tolist())
