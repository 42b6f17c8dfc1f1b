# Principal components and singular values by random products.
import torch

torch.manual_seed(4)
a = torch.randn(9, 4, dtype=torch.double) @ torch.diag(torch.tensor([5.0, 2.0, 1.0, 0.5], dtype=torch.double)) + 3
u, s, v = torch.pca_lowrank(a, q=3)
print(s, u.shape, v.abs())
for given in (a, a.mT):
    u, s, v = torch.svd_lowrank(given, q=2, niter=1)
    print(s, u.shape, v.shape, torch.linalg.matrix_norm(given - u * s @ v.mT) < 5)
w = a.clone().requires_grad_()
u, s, v = torch.svd_lowrank(w, q=2, M=a.mean(0, keepdim=True))
s.sum().backward()
print(s, w.grad)
for wrong in ({"q": 9}, {"niter": -1}):
    try:
        torch.pca_lowrank(a, **wrong)
    except ValueError as e:
        print(e)
