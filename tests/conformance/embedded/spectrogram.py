"""What frequencies a signal has over time, and the signal again from them."""
import torch

torch.manual_seed(2)
time = torch.arange(64.0)
signal = torch.sin(0.3 * time) + 0.5 * torch.sin(1.1 * time)
window = torch.hann_window(16)
spectrum = torch.stft(signal, 16, hop_length=4, window=window, return_complex=True)
print(spectrum.shape, spectrum.abs().sum(1))
again = torch.istft(spectrum, 16, hop_length=4, window=window, length=64)
print((again - signal).abs().max().item() < 1e-5)
weights = torch.ones(spectrum.size(0), requires_grad=True)
filtered = torch.istft(spectrum * weights[:, None], 16, 4, window=window)
loss = (filtered - torch.sin(0.3 * time)).square().mean()
loss.backward()
print(loss.item(), weights.grad)
batch = torch.stack([signal, signal.flip(0)]).stft(8, window=torch.hamming_window(8), center=False, normalized=True, return_complex=True)
print(batch.shape, batch.real.mean().item())
for wrong in (lambda: torch.stft(signal, 16, window=window), lambda: torch.stft(signal, 128, center=False, return_complex=True), lambda: torch.istft(signal, 16)):
    try:
        wrong()
    except RuntimeError as e:
        print(e)
