"""Unsupervised learning without nn: k-means++ and PCA by SVD on tensors, checked against numpy."""
import numpy as np
import torch


def kmeans_plusplus(x, k):
    centers = [x[torch.randint(len(x), (1,))].squeeze(0)]
    for _ in range(k - 1):
        d = torch.cdist(x, torch.stack(centers)).min(dim=1).values ** 2
        centers.append(x[torch.multinomial(d / d.sum(), 1)].squeeze(0))
    return torch.stack(centers)


def kmeans(x, k, iters=50):
    c = kmeans_plusplus(x, k)
    for i in range(iters):
        assign = torch.cdist(x, c).argmin(dim=1)
        new = torch.zeros_like(c).index_add_(0, assign, x)
        n = torch.bincount(assign, minlength=k).clamp(min=1)
        new = new / n[:, None]
        if torch.allclose(new, c, atol=1e-6):
            break
        c = new
    inertia = (x - c[assign]).pow(2).sum().item()
    return c, assign, inertia, i


def pca(x, k):
    mean = x.mean(0)
    U, S, Vh = torch.linalg.svd(x - mean, full_matrices=False)
    var = S ** 2 / (len(x) - 1)
    return (x - mean) @ Vh[:k].T, Vh[:k], var[:k] / var.sum()


torch.manual_seed(21)
means = torch.tensor([[0., 0., 0., 0.], [6., 0., 1., 0.], [0., 6., 0., 1.], [5., 5., 5., 0.]])
labels = torch.arange(4).repeat_interleave(50)
x = means[labels] + 0.7 * torch.randn(200, 4)

best = min((kmeans(x, 4) for _ in range(5)), key=lambda r: r[2])
centers, assign, inertia, n_iter = best
order = centers[:, :2].sum(1).mul(10).add(centers[:, 0]).argsort()
print("inertia %.2f" % inertia)
for c in centers[order]:
    print("  center", " ".join("%6.2f" % v for v in c.tolist()))
table = torch.zeros(4, 4, dtype=torch.long)
table.index_put_((labels, assign), torch.tensor(1), accumulate=True)
print("purity %.3f" % (table.max(0).values.sum().item() / 200))

print("elbow:")
for k in range(1, 7):
    torch.manual_seed(k)
    print("  k=%d inertia %.1f" % (k, min(kmeans(x, k)[2] for _ in range(4))))

z, comps, ratio = pca(x, 2)
print("explained variance ratio", ["%.3f" % r for r in ratio.tolist()])
print("components orthonormal:", torch.allclose(comps @ comps.T, torch.eye(2), atol=1e-5))

xn = x.numpy()
evals = np.sort(np.linalg.eigvalsh(np.cov(xn.T)))[::-1]
print("numpy agrees:", np.allclose(evals[:2] / evals.sum(), ratio.numpy(), atol=1e-4))
recon = z @ comps + x.mean(0)
print("reconstruction mse %.3f" % (recon - x).pow(2).mean().item())
shared = torch.from_numpy(xn)
print("memory is shared:", shared.data_ptr() == x.data_ptr())
