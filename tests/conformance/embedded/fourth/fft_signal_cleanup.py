"""Denoise a signal in the frequency domain, filter an image with FFT convolution, and look at an STFT."""
import math

import torch
import torch.nn.functional as F

torch.manual_seed(0)
fs = 256
t = torch.arange(fs) / fs
clean = torch.sin(2 * math.pi * 5 * t) + 0.5 * torch.cos(2 * math.pi * 12 * t)
noisy = clean + 0.6 * torch.randn(fs)

spec = torch.fft.rfft(noisy)
freqs = torch.fft.rfftfreq(fs, d=1 / fs)
power = spec.abs() ** 2 / fs
top = power.topk(2).indices.sort().values
print("dominant frequencies:", freqs[top].tolist())

filtered = torch.where(power > 0.25 * power.max() * 0.5, spec, torch.zeros_like(spec))
restored = torch.fft.irfft(filtered, n=fs)
print("mse noisy %.3f restored %.3f" % (F.mse_loss(noisy, clean), F.mse_loss(restored, clean)))

# Parseval
energy_t = noisy.pow(2).sum()
full = torch.fft.fft(noisy)
print("parseval:", torch.allclose(energy_t, full.abs().pow(2).sum() / fs, rtol=1e-4))


# convolution theorem in two dimensions
def fft_conv2d(img, kernel):
    h = img.shape[-2] + kernel.shape[-2] - 1
    w = img.shape[-1] + kernel.shape[-1] - 1
    prod = torch.fft.rfft2(img, s=(h, w)) * torch.fft.rfft2(kernel, s=(h, w))
    return torch.fft.irfft2(prod, s=(h, w))


img = torch.rand(9, 11)
g = torch.exp(-torch.linspace(-1, 1, 5) ** 2)
kernel = torch.outer(g, g)
kernel /= kernel.sum()
a = fft_conv2d(img, kernel)
b = F.conv2d(img[None, None], kernel.flip(0, 1)[None, None], padding=4)[0, 0]
print("conv theorem:", tuple(a.shape), torch.allclose(a, b, atol=1e-5))

# a chirp seen through the short time Fourier transform
chirp = torch.sin(2 * math.pi * (10 * t + 30 * t ** 2))
win = torch.hann_window(64)
S = torch.stft(chirp, n_fft=64, hop_length=32, window=win, return_complex=True)
print("stft", tuple(S.shape), S.dtype)
peak = S.abs()[:, 1:-1].argmax(0) * fs / 64
print("peak frequency per frame:", [int(p) for p in peak])
back = torch.istft(S, n_fft=64, hop_length=32, window=win, length=fs)
print("istft error small:", (back - chirp).abs().max().item() < 1e-4)

# fftshift puts zero frequency in the middle
print("shifted freqs:", torch.fft.fftshift(torch.fft.fftfreq(6, d=1 / 6)).tolist())
