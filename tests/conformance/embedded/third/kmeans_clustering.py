"""K-means clustering with cdist, k-means++ initialisation and a silhouette score."""
import torch


class KMeans:
    def __init__(self, k, max_iter=50, tol=1e-6):
        self.k, self.max_iter, self.tol = k, max_iter, tol

    def _init(self, x):
        centers = [x[torch.randint(len(x), (1,)).item()]]
        for _ in range(self.k - 1):
            d2 = torch.cdist(x, torch.stack(centers)).min(dim=1).values ** 2
            centers.append(x[torch.multinomial(d2, 1).item()])
        return torch.stack(centers)

    def fit(self, x):
        self.centers = self._init(x)
        for it in range(self.max_iter):
            labels = torch.cdist(x, self.centers).argmin(dim=1)
            new = torch.zeros_like(self.centers).index_add_(0, labels, x)
            counts = torch.bincount(labels, minlength=self.k).clamp(min=1)
            new /= counts.unsqueeze(1)
            shift = (new - self.centers).norm()
            self.centers = new
            if shift < self.tol:
                break
        self.n_iter = it + 1
        self.inertia = torch.cdist(x, self.centers).min(1).values.pow(2).sum().item()
        return self

    def predict(self, x):
        return torch.cdist(x, self.centers).argmin(dim=1)


def silhouette(x, labels):
    d = torch.cdist(x, x)
    k = int(labels.max()) + 1
    onehot = torch.nn.functional.one_hot(labels, k).float()
    counts = onehot.sum(0)
    sums = d @ onehot
    own = labels.unsqueeze(1)
    a = sums.gather(1, own).squeeze(1) / (counts[labels] - 1)
    means = sums / counts
    means.scatter_(1, own, float("inf"))
    b = means.min(1).values
    return ((b - a) / torch.maximum(a, b)).mean().item()


if __name__ == "__main__":
    torch.manual_seed(6)
    true_centers = torch.tensor([[0.0, 0.0], [5.0, 5.0], [0.0, 6.0]])
    x = torch.cat([c + 0.7 * torch.randn(40, 2) for c in true_centers])
    for k in range(2, 6):
        torch.manual_seed(k)
        km = KMeans(k).fit(x)
        print(f"k={k} inertia {km.inertia:8.3f} silhouette {silhouette(x, km.predict(x)):.4f}")
    torch.manual_seed(3)
    km = KMeans(3).fit(x)
    order = km.centers[:, 0].add(km.centers[:, 1] * 0.1).argsort()
    for c in km.centers[order]:
        print("center (%.3f, %.3f)" % (c[0], c[1]))
    print("sizes", torch.bincount(km.predict(x))[order].tolist())
