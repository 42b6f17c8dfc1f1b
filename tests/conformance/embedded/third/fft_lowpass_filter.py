"""Filter a noisy signal in the frequency domain and verify the convolution theorem with torch.fft."""
import torch
import torch.fft as fft

torch.manual_seed(4)

rate = 128
t = torch.arange(rate) / rate
clean = torch.sin(2 * torch.pi * 5 * t) + 0.5 * torch.cos(2 * torch.pi * 12 * t)
signal = clean + 0.4 * torch.randn(rate)

spectrum = fft.rfft(signal)
freqs = fft.rfftfreq(rate, d=1 / rate)
mag = spectrum.abs() * 2 / rate
top = mag.topk(2)
print("dominant frequencies:", sorted(freqs[top.indices].int().tolist()))
print("amplitudes:", ["%.2f" % a for a in top.values])

spectrum[freqs > 15] = 0
filtered = fft.irfft(spectrum, n=rate)
print("rmse noisy %.3f filtered %.3f" % (
    (signal - clean).pow(2).mean().sqrt(), (filtered - clean).pow(2).mean().sqrt()))

# Parseval
x = torch.randn(64)
X = fft.fft(x)
print("parseval:", torch.isclose(x.pow(2).sum(), X.abs().pow(2).sum() / 64).item())

# circular convolution
a, b = torch.randn(16), torch.randn(16)
direct = torch.stack([sum(a[j] * b[(i - j) % 16] for j in range(16)) for i in range(16)])
via_fft = fft.ifft(fft.fft(a) * fft.fft(b)).real
print("circular convolution:", torch.allclose(direct, via_fft, atol=1e-5))

# 2D: shift an image by multiplying with a phase
img = torch.zeros(8, 8)
img[2, 3] = 1.0
ky, kx = torch.meshgrid(fft.fftfreq(8), fft.fftfreq(8), indexing="ij")
phase = torch.exp(-2j * torch.pi * (ky * 1 + kx * 2))
moved = fft.ifft2(fft.fft2(img) * phase).real
print("spot moved to", divmod(int(moved.argmax()), 8), "value %.4f" % moved.max())

# differentiating by FFT, with a gradient through it
u = torch.sin(2 * torch.pi * t).requires_grad_()
k = 2 * torch.pi * fft.fftfreq(rate, d=1 / rate)
du = fft.ifft(1j * k * fft.fft(u)).real
print("max error of the derivative below 1e-3:", bool((du - 2 * torch.pi * torch.cos(2 * torch.pi * t)).abs().max() < 1e-3))
du.pow(2).mean().backward()
print("grad norm %.4f" % u.grad.norm())

win = torch.hann_window(32)
S = torch.stft(signal, n_fft=32, hop_length=16, window=win, return_complex=True)
back = torch.istft(S, n_fft=32, hop_length=16, window=win, length=rate)
print("stft", tuple(S.shape), "round trip:", torch.allclose(back, signal, atol=1e-5))
