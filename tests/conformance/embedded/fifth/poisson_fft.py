"""Solves the periodic Poisson equation with FFTs and compares it to Jacobi iterations and to a known solution."""
import math
import torch
import torch.nn.functional as F

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)


def grid(n):
    x = torch.arange(n) * (2 * math.pi / n)
    return torch.meshgrid(x, x, indexing="ij")


def spectral_solve(f):
    """u with laplace(u) = f and mean zero on the [0, 2 pi)^2 torus"""
    n = f.shape[-1]
    kx = torch.fft.fftfreq(n, d=1 / n)[:, None]
    ky = torch.fft.rfftfreq(n, d=1 / n)[None, :]
    k2 = kx ** 2 + ky ** 2
    k2[0, 0] = 1.0
    fh = torch.fft.rfft2(f)
    fh[..., 0, 0] = 0
    return torch.fft.irfft2(-fh / k2, s=f.shape[-2:])


def gradient(u):
    n = u.shape[-1]
    k = torch.fft.fftfreq(n, d=1 / n)
    uh = torch.fft.fft2(u)
    return torch.fft.ifft2(1j * k[:, None] * uh).real, torch.fft.ifft2(1j * k[None, :] * uh).real


LAPLACE = torch.tensor([[0.0, 1, 0], [1, 0, 1], [0, 1, 0]])[None, None]


def jacobi(f, iterations):
    n = f.shape[-1]
    h2 = (2 * math.pi / n) ** 2
    u = torch.zeros(1, 1, n, n)
    for _ in range(iterations):
        around = F.conv2d(F.pad(u, (1, 1, 1, 1), mode="circular"), LAPLACE)
        u = (around - h2 * f) / 4
    return u[0, 0] - u.mean()


print("   n   spectral error   finite-difference error")
for n in (8, 16, 32):
    x, y = grid(n)
    exact = torch.exp(torch.sin(x)) * torch.cos(y)
    # laplacian by hand
    f = (torch.cos(x) ** 2 - torch.sin(x) - 1) * exact
    u = spectral_solve(f)
    exact0 = exact - exact.mean()
    v = jacobi(f, 400)
    print(f"{n:4d}   {max((u - exact0).abs().max().item(), 1e-9):14.1e}   {(v - exact0).abs().max().item():14.4f}")

x, y = grid(32)
print("Jacobi converges slowly:", ["%.4f" % (jacobi(f, k) - spectral_solve(f)).abs().max() for k in (10, 50, 200)])

ux, uy = gradient(spectral_solve(f))
print("energy 0.5 * mean |grad u|^2   %.5f" % (0.5 * (ux ** 2 + uy ** 2).mean()))
print("the same by Green's identity   %.5f" % (-0.5 * (spectral_solve(f) * f).mean()))

# the FFT is differentiable: find the charge distribution which makes a wanted potential at four probes
charge = torch.zeros(32, 32, requires_grad=True)
probes = torch.tensor([[4, 4], [4, 20], [20, 4], [25, 25]])
wanted = torch.tensor([1.0, -1.0, 0.5, 0.0])
for it in range(30):
    pot = spectral_solve(charge)[probes[:, 0], probes[:, 1]]
    loss = ((pot - wanted) ** 2).sum()
    (g,) = torch.autograd.grad(loss, charge)
    with torch.no_grad():
        charge -= 100.0 * g
    if it % 10 == 0:
        print(f"it {it:2d} loss {loss.item():.5f}")
print("potential at the probes:", [round(v, 2) + 0.0 for v in pot.tolist()])
print("largest charge is at probe:", divmod(charge.abs().argmax().item(), 32))
