"""How far one distribution is from another."""
import math

import torch
from torch.nn import functional as F

from .._missing import attribute, missing
from .composed import Gumbel, HalfNormal, Independent, Pareto, TransformedDistribution
from .continuous import Cauchy, Exponential, Gamma, Laplace, Normal, Uniform
from .discrete import Bernoulli, Binomial, Categorical, Geometric, OneHotCategorical, Poisson
from .distribution import ExponentialFamily
from .multivariate import Beta, Dirichlet, MultivariateNormal, mahalanobis
from .utils import euler_constant, sum_rightmost

_REGISTERED = {}


def register_kl(type_p, type_q):
    def register(function):
        _REGISTERED[type_p, type_q] = function
        return function
    return register


def _nearest(type_p, type_q):
    """Of the classes that both derive from, the most particular: by p first."""
    for p in type_p.__mro__:
        for q in type_q.__mro__:
            if (p, q) in _REGISTERED:
                return _REGISTERED[p, q]
    return None


def kl_divergence(p, q):
    function = _nearest(type(p), type(q))
    if function is None:
        missing("torch.distributions.kl_divergence of %s and %s" % (type(p).__name__, type(q).__name__))
    return function(p, q)


@register_kl(Bernoulli, Bernoulli)
def _bernoulli(p, q):
    first = p.probs * (F.softplus(-q.logits) - F.softplus(-p.logits))
    first[q.probs == 0] = math.inf
    first[p.probs == 0] = 0
    second = (1 - p.probs) * (F.softplus(q.logits) - F.softplus(p.logits))
    second[q.probs == 1] = math.inf
    second[p.probs == 1] = 0
    return first + second


@register_kl(Beta, Beta)
def _beta(p, q):
    of_p, of_q = p.concentration1 + p.concentration0, q.concentration1 + q.concentration0
    t1 = q.concentration1.lgamma() + q.concentration0.lgamma() + of_p.lgamma()
    t2 = p.concentration1.lgamma() + p.concentration0.lgamma() + of_q.lgamma()
    t3 = (p.concentration1 - q.concentration1) * torch.digamma(p.concentration1)
    t4 = (p.concentration0 - q.concentration0) * torch.digamma(p.concentration0)
    t5 = (of_q - of_p) * torch.digamma(of_p)
    return t1 - t2 + t3 + t4 + t5


@register_kl(Binomial, Binomial)
def _binomial(p, q):
    if (p.total_count < q.total_count).any():
        raise NotImplementedError("KL between Binomials where q.total_count > p.total_count is not implemented")
    kl = p.total_count * (p.probs * (p.logits - q.logits) + (-p.probs).log1p() - (-q.probs).log1p())
    more = p.total_count > q.total_count
    kl[more] = torch.full_like(kl[more], math.inf)
    return kl


@register_kl(Categorical, Categorical)
def _categorical(p, q):
    t = p.probs * (p.logits - q.logits)
    t[(q.probs == 0).expand_as(t)] = math.inf
    t[(p.probs == 0).expand_as(t)] = 0
    return t.sum(-1)


@register_kl(OneHotCategorical, OneHotCategorical)
def _one_hot(p, q):
    return _categorical(p._categorical, q._categorical)


@register_kl(Dirichlet, Dirichlet)
def _dirichlet(p, q):
    of_p, of_q = p.concentration.sum(-1), q.concentration.sum(-1)
    t1 = of_p.lgamma() - of_q.lgamma()
    t2 = (p.concentration.lgamma() - q.concentration.lgamma()).sum(-1)
    t3 = p.concentration - q.concentration
    t4 = p.concentration.digamma() - of_p.digamma().unsqueeze(-1)
    return t1 - t2 + (t3 * t4).sum(-1)


@register_kl(Exponential, Exponential)
def _exponential(p, q):
    ratio = q.rate / p.rate
    t = -ratio.log()
    return t + ratio - 1


@register_kl(ExponentialFamily, ExponentialFamily)
def _exponential_family(p, q):
    if type(p) is not type(q):
        missing("torch.distributions.kl_divergence of %s and %s" % (type(p).__name__, type(q).__name__))
    of_p = [n.detach().requires_grad_() for n in p._natural_params]
    of_q = q._natural_params
    normalizer = p._log_normalizer(*of_p)
    gradients = torch.autograd.grad(normalizer.sum(), of_p, create_graph=True)
    result = q._log_normalizer(*of_q) - normalizer
    for a, b, g in zip(of_p, of_q, gradients):
        result -= sum_rightmost((b - a) * g, len(q.event_shape))
    return result


@register_kl(Gamma, Gamma)
def _gamma(p, q):
    t1 = q.concentration * (p.rate / q.rate).log()
    t2 = torch.lgamma(q.concentration) - torch.lgamma(p.concentration)
    t3 = (p.concentration - q.concentration) * torch.digamma(p.concentration)
    t4 = (q.rate - p.rate) * (p.concentration / p.rate)
    return t1 + t2 + t3 + t4


@register_kl(Gumbel, Gumbel)
def _gumbel(p, q):
    c1, c2, c3 = p.scale / q.scale, q.loc / q.scale, p.loc / q.scale
    t1 = -c1.log() - c2 + c3
    t2 = c1 * euler_constant
    t3 = torch.exp(c2 + (1 + c1).lgamma() - c3)
    return t1 + t2 + t3 - (1 + euler_constant)


@register_kl(Geometric, Geometric)
def _geometric(p, q):
    return -p.entropy() - torch.log1p(-q.probs) / p.probs - q.logits


@register_kl(Normal, Normal)
def _normal(p, q):
    ratio = (p.scale / q.scale).pow(2)
    away = ((p.loc - q.loc) / q.scale).pow(2)
    return 0.5 * (ratio + away - 1 - ratio.log())


@register_kl(HalfNormal, HalfNormal)
def _half_normal(p, q):
    return _normal(p.base_dist, q.base_dist)


@register_kl(Laplace, Laplace)
def _laplace(p, q):
    ratio = p.scale / q.scale
    away = (p.loc - q.loc).abs()
    t1 = -ratio.log()
    t2 = away / q.scale
    t3 = ratio * torch.exp(-away / p.scale)
    return t1 + t2 + t3 - 1


@register_kl(Cauchy, Cauchy)
def _cauchy(p, q):
    t1 = ((p.scale + q.scale).pow(2) + (p.loc - q.loc).pow(2)).log()
    t2 = (4 * p.scale * q.scale).log()
    return t1 - t2


def _trace_of_square(matrix):
    n, m = matrix.size(-1), matrix.size(-2)
    return matrix.reshape(-1, m * n).pow(2).sum(-1).reshape(matrix.shape[:-2])


@register_kl(MultivariateNormal, MultivariateNormal)
def _multivariate_normal(p, q):
    if p.event_shape != q.event_shape:
        raise ValueError("KL-divergence between two Multivariate Normals with                          different event shapes cannot be computed")
    dets = q._half_log_det() - p._half_log_det()
    n = p.event_shape[0]
    shape = tuple(torch.broadcast_shapes(q._unbroadcasted_scale_tril.shape[:-2], p._unbroadcasted_scale_tril.shape[:-2])) + (n, n)
    of_q, of_p = q._unbroadcasted_scale_tril.expand(shape), p._unbroadcasted_scale_tril.expand(shape)
    t2 = _trace_of_square(torch.linalg.solve_triangular(of_q, of_p, upper=False))
    t3 = mahalanobis(q._unbroadcasted_scale_tril, q.loc - p.loc)
    return dets + 0.5 * (t2 + t3 - n)


@register_kl(Pareto, Pareto)
def _pareto(p, q):
    scales, alphas = p.scale / q.scale, q.alpha / p.alpha
    t1 = q.alpha * scales.log()
    t2 = -alphas.log()
    result = t1 + t2 + alphas - 1
    result[p.support.lower_bound < q.support.lower_bound] = math.inf
    return result


@register_kl(Poisson, Poisson)
def _poisson(p, q):
    return p.rate * (p.rate.log() - q.rate.log()) - (p.rate - q.rate)


@register_kl(Uniform, Uniform)
def _uniform(p, q):
    result = ((q.high - q.low) / (p.high - p.low)).log()
    result[(q.low > p.low) | (q.high < p.high)] = math.inf
    return result


@register_kl(Uniform, Normal)
def _uniform_normal(p, q):
    width = p.high - p.low
    t1 = (math.sqrt(math.pi * 2) * q.scale / width).log()
    t2 = width.pow(2) / 12
    t3 = ((p.high + p.low - 2 * q.loc) / 2).pow(2)
    return t1 + 0.5 * (t2 + t3) / q.scale.pow(2)


@register_kl(Exponential, Normal)
def _exponential_normal(p, q):
    variance, square = q.scale.pow(2), p.rate.pow(2)
    t1 = 0.5 * torch.log(square * variance * 2 * math.pi)
    t2 = square.reciprocal()
    t3 = q.loc / p.rate
    t4 = q.loc.pow(2) * 0.5
    return t1 - 1 + (t2 - t3 + t4) / variance


@register_kl(TransformedDistribution, TransformedDistribution)
def _transformed(p, q):
    if p.transforms != q.transforms or p.event_shape != q.event_shape:
        raise NotImplementedError
    return kl_divergence(p.base_dist, q.base_dist)


@register_kl(Independent, Independent)
def _independent(p, q):
    if p.reinterpreted_batch_ndims != q.reinterpreted_batch_ndims:
        raise NotImplementedError
    return sum_rightmost(kl_divergence(p.base_dist, q.base_dist), p.reinterpreted_batch_ndims)


__getattr__ = attribute("torch.distributions.kl")
