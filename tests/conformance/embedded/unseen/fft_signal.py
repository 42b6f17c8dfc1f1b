# FFT playground: find tones in noise, low-pass filter, convolution theorem, spectral derivative, complex numbers.
import math
import torch

torch.manual_seed(8)
fs, n = 64, 64
t = torch.arange(n) / fs
clean = 1.0 * torch.sin(2 * math.pi * 5 * t) + 0.5 * torch.cos(2 * math.pi * 12 * t)
noisy = clean + 0.3 * torch.randn(n)

spec = torch.fft.rfft(noisy)
freqs = torch.fft.rfftfreq(n, d=1 / fs)
mag = spec.abs() * 2 / n
top = mag.topk(2)
print("spec", spec.shape, spec.dtype)
print("peaks:", [(freqs[i].item(), round(m.item(), 4)) for m, i in zip(top.values, top.indices)])
print("phase of 12 Hz: %.3f" % torch.angle(spec[12]).item())

# low pass at 15 Hz
filt = torch.where(freqs <= 15, spec, torch.zeros_like(spec))
den = torch.fft.irfft(filt, n=n)
snr = lambda s: 10 * torch.log10(clean.pow(2).sum() / (s - clean).pow(2).sum()).item()
print(f"snr before {snr(noisy):.3f} dB after {snr(den):.3f} dB")

# Parseval
print("parseval:", torch.allclose(noisy.pow(2).sum(), torch.fft.fft(noisy).abs().square().sum() / n, rtol=1e-4))

# convolution theorem against conv1d
kernel = torch.hann_window(9, periodic=False)
kernel /= kernel.sum()
full = n + 9 - 1
via_fft = torch.fft.irfft(torch.fft.rfft(noisy, full) * torch.fft.rfft(kernel, full), full)
via_conv = torch.nn.functional.conv1d(noisy[None, None], kernel.flip(0)[None, None], padding=8)[0, 0]
print("conv theorem:", torch.allclose(via_fft, via_conv, atol=1e-5), via_conv.shape)

# spectral derivative of exp(sin x)
m = 32
x = torch.arange(m, dtype=torch.float64) * 2 * math.pi / m
f = torch.exp(torch.sin(x))
k = torch.fft.fftfreq(m, d=1.0 / m, dtype=torch.float64)
df = torch.fft.ifft(1j * k * torch.fft.fft(f)).real
print("derivative accurate:", bool((df - torch.cos(x) * f).abs().max() < 1e-8))

# heat equation on a ring, exact in Fourier space
u = torch.zeros(m, dtype=torch.float64)
u[m // 2 - 2:m // 2 + 2] = 1
for time in (0.0, 0.1, 0.5):
    ut = torch.fft.ifft(torch.fft.fft(u) * torch.exp(-k ** 2 * time)).real
    print(f"t={time}: mass {ut.sum():.4f} peak {ut.max():.4f} centre {ut[m // 2]:.4f}")

# complex tensors
z = torch.tensor([3 + 4j, 1 - 1j, -2j])
print(z, z.abs(), z.conj() * z)
print(z.real, z.imag, torch.view_as_real(z).shape)
print(torch.polar(torch.tensor([1.0, 2.0]), torch.tensor([0.0, math.pi / 2])))

# 2d: shift theorem on a small picture
img = torch.zeros(8, 8)
img[2:4, 3:6] = 1
F2 = torch.fft.fft2(img)
print("DC:", F2[0, 0], "symmetric:", torch.allclose(torch.fft.fftshift(F2.abs())[4, 1:], torch.fft.fftshift(F2.abs())[4, 1:].flip(0), atol=1e-5))
print("shift leaves |F|:", torch.allclose(torch.fft.fft2(img.roll((2, 1), (0, 1))).abs(), F2.abs(), atol=1e-4))

# learn a phase by gradient descent through the FFT
phi = torch.tensor(0.1, requires_grad=True)
for _ in range(20):
    sig = torch.sin(2 * math.pi * 5 * t + phi)
    loss = (torch.fft.rfft(sig, norm="ortho") - torch.fft.rfft(torch.sin(2 * math.pi * 5 * t + 1.0), norm="ortho")).abs().pow(2).mean()
    g, = torch.autograd.grad(loss, phi)
    with torch.no_grad():
        phi -= 0.3 * g
print("phi %.4f" % phi.item())
