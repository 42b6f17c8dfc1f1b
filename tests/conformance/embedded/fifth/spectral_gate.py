"""Removes hiss from a synthetic melody with an STFT spectral gate, then learns a better gate by gradient descent."""
import math
import torch

torch.manual_seed(440)
SR, N_FFT, HOP = 4000, 256, 64
window = torch.hann_window(N_FFT)


def melody():
    parts = []
    for note in [0, 4, 7, 12]:
        t = torch.arange(1000) / SR
        f = 262 * 2 ** (note / 12)
        env = torch.exp(-4 * t) * torch.clamp(t * 50, max=1)
        parts.append(env * (torch.sin(2 * math.pi * f * t) + 0.4 * torch.sin(4 * math.pi * f * t)))
    return torch.cat(parts)


def stft(x):
    return torch.stft(x, N_FFT, HOP, window=window, return_complex=True)


def istft(X, length):
    return torch.istft(X, N_FFT, HOP, window=window, length=length)


def snr(clean, x):
    return 10 * torch.log10(clean.square().sum() / (clean - x).square().sum())


clean = melody()
noise = 0.1 * torch.randn_like(clean)
noisy = clean + noise
print("samples", clean.numel(), "spectrogram", tuple(stft(clean).shape))
print("round trip error below 1e-5:", bool((istft(stft(clean), clean.numel()) - clean).abs().max() < 1e-5))
print("SNR of the recording        %6.2f dB" % snr(clean, noisy))

# 1. hard gate: noise floor per frequency from a second of hiss without music
X = stft(noisy)
floor = stft(0.1 * torch.randn(SR)).abs().mean(1, keepdim=True)
for k in (1.0, 2.0, 3.0):
    mask = (X.abs() > k * floor).float()
    y = istft(X * mask, clean.numel())
    print(f"hard gate at {k:.0f} x floor       {snr(clean, y).item():6.2f} dB, open {mask.mean().item():.3f}")

# 2. Wiener-like gain
gain = torch.clamp(1 - (1.3 * floor / X.abs()) ** 2, min=0.05)
print("spectral subtraction        %6.2f dB" % snr(clean, istft(X * gain, clean.numel())))

# 3. gate with learned threshold, slope and smoothing in time and frequency
level = torch.tensor(0.5, requires_grad=True)
slope = torch.tensor(1.0, requires_grad=True)
kernel = torch.zeros(1, 1, 3, 5)
kernel[0, 0, 1, 2] = 1
kernel.requires_grad_(True)
opt = torch.optim.Adam([level, slope, kernel], lr=0.05)
ratio = torch.log(X.abs() / floor + 1e-3)[None, None]
for it in range(41):
    smooth = torch.nn.functional.conv2d(ratio, kernel, padding=(1, 2))[0, 0]
    mask = torch.sigmoid(slope * 4 * (smooth - level))
    y = istft(X * mask, clean.numel())
    loss = -snr(clean, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    if it % 10 == 0:
        print(f"learned gate, step {it:2d}       {-loss.item():6.2f} dB")
print("kernel by frequency", [f"{v:.2f}" for v in kernel.sum((0, 1, 3)).tolist()],
      "by time", [f"{v:.2f}" for v in kernel.sum((0, 1, 2)).tolist()])

# spectral centroid of each note
freqs = torch.fft.rfftfreq(N_FFT, 1 / SR)
mag = stft(y.detach()).abs()
centroid = (freqs[:, None] * mag).sum(0) / mag.sum(0)
print("peak frequency of the notes:", [round(freqs[mag[:, i].argmax()].item()) for i in (5, 20, 36, 52)])
print("centroid:", [round(centroid[i].item()) for i in (5, 20, 36, 52)])
