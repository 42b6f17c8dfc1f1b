# Denoise a signal in the frequency domain, check Parseval, and compare FFT with direct convolution.
import math
import torch
import torch.nn.functional as F

torch.manual_seed(2024)
n, fs = 64, 64.0
t = torch.arange(n) / fs
clean = torch.sin(2 * math.pi * 4 * t) + 0.5 * torch.cos(2 * math.pi * 10 * t)
noisy = clean + 0.3 * torch.randn(n)

spec = torch.fft.rfft(noisy)
freqs = torch.fft.rfftfreq(n, d=1 / fs)
power = spec.abs() ** 2 / n
print("dtype:", spec.dtype, "bins:", spec.numel())
top = power.topk(3)
print("strongest frequencies:", freqs[top.indices].tolist())
print("power:", top.values)

# keep only the bins above a threshold
mask = power > 0.1 * power.max()
denoised = torch.fft.irfft(torch.where(mask, spec, torch.zeros_like(spec)), n=n)
snr = lambda s: 10 * torch.log10(clean.square().sum() / (s - clean).square().sum())
print(f"kept {mask.sum().item()} bins, SNR before {snr(noisy):.3f} dB, after {snr(denoised):.3f} dB")

# Parseval
full = torch.fft.fft(noisy)
print("parseval:", torch.allclose(noisy.square().sum(), full.abs().square().sum() / n, rtol=1e-4))
print("hermitian:", torch.allclose(full[1:], full[1:].flip(0).conj(), atol=1e-4))

# circular convolution via FFT against conv1d with circular padding
kernel = torch.hann_window(7, periodic=False)
kernel = kernel / kernel.sum()
kpad = F.pad(kernel, (0, n - 7)).roll(-3)
via_fft = torch.fft.ifft(torch.fft.fft(noisy) * torch.fft.fft(kpad)).real
direct = F.conv1d(F.pad(noisy.view(1, 1, -1), (3, 3), mode="circular"), kernel.view(1, 1, -1)).view(-1)
print("fft conv max diff below 1e-5:", ((via_fft - direct).abs().max() < 1e-5).item())
print("smoothed:", direct[:6])

# complex numbers
z = torch.polar(torch.tensor([1.0, 2.0]), torch.tensor([math.pi / 3, math.pi / 6]))
print(z, z.real, z.imag, torch.view_as_real(z), sep="\n")
print("angles:", z.angle(), "prod abs:", z.prod().abs())

# moving statistics by unfold
win = noisy.unfold(0, 8, 4)
print(win.shape, win.mean(dim=1)[:5], win.amax(1)[:5])

# 2-d: a centred low-pass mask
img = torch.outer(torch.hann_window(8), torch.hann_window(8))
shifted = torch.fft.fftshift(torch.fft.fft2(img)).abs()
print("peak at", divmod(shifted.argmax().item(), 8), "value %.4f" % shifted.max().item())
