"""Complex numbers: lazy conjugation and negation are keys whose fallbacks call again with materialized tensors."""
import torch

torch.manual_seed(7)
a = torch.randn(2, 3, dtype=torch.complex64, requires_grad=True)
b = a.conj()
print(b.is_conj(), torch.exp(b).tolist())
print((b @ a.t()).tolist())
n = b.imag                                   # a negative bit, not a copy
print(n.is_neg(), (n + 1).tolist(), n.exp().tolist())
spectrum = torch.fft.rfft(torch.arange(8.0))
print(spectrum.tolist(), torch.fft.irfft(spectrum).tolist())
(b * a).real.sum().backward()
print(a.grad.tolist())
c = a.detach().conj()
c.mul_(2j)
print(c.resolve_conj().tolist(), torch.view_as_real(c.resolve_conj()).tolist())
zero = torch._efficientzerotensor(2, 3)
print((zero + a.detach().real).tolist())
