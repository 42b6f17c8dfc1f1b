"""Distributions: drawing, log probabilities, entropies."""
from .._missing import attribute, homes
from . import constraints, transforms  # noqa: F401
from .circular import ContinuousBernoulli, GeneralizedPareto, VonMises
from .composed import (Gumbel, HalfCauchy, HalfNormal, Independent, InverseGamma, Kumaraswamy, LogisticNormal, LogNormal, MixtureSameFamily, Pareto, RelaxedBernoulli,  # noqa: F401
                       RelaxedOneHotCategorical, TransformedDistribution, Weibull)
from .constraint_registry import biject_to, transform_to  # noqa: F401
from .continuous import Cauchy, Chi2, Exponential, FisherSnedecor, Gamma, Laplace, LogitRelaxedBernoulli, Normal, StudentT, Uniform
from .discrete import (Bernoulli, Binomial, Categorical, ExpRelaxedCategorical, Geometric, Multinomial, NegativeBinomial, OneHotCategorical,  # noqa: F401
                       OneHotCategoricalStraightThrough, Poisson)
from .distribution import Distribution, ExponentialFamily  # noqa: F401
from .kl import kl_divergence, register_kl  # noqa: F401
from .matrices import LKJCholesky, LowRankMultivariateNormal, Wishart
from .multivariate import Beta, Dirichlet, MultivariateNormal
from .transforms import (AbsTransform, AffineTransform, ComposeTransform, CumulativeDistributionTransform, ExpTransform, IndependentTransform,  # noqa: F401
                         LowerCholeskyTransform, PowerTransform, ReshapeTransform, SigmoidTransform, SoftmaxTransform, SoftplusTransform, StackTransform,
                         StickBreakingTransform, TanhTransform, Transform, identity_transform)

# Where PyTorch has them.
homes("torch.distributions", {
    "bernoulli": [Bernoulli], "beta": [Beta], "binomial": [Binomial], "categorical": [Categorical], "cauchy": [Cauchy], "chi2": [Chi2], "continuous_bernoulli": [ContinuousBernoulli], "dirichlet": [Dirichlet],
    "exp_family": [ExponentialFamily], "exponential": [Exponential], "fishersnedecor": [FisherSnedecor], "gamma": [Gamma], "generalized_pareto": [GeneralizedPareto], "geometric": [Geometric], "gumbel": [Gumbel], "half_cauchy": [HalfCauchy],
    "half_normal": [HalfNormal], "independent": [Independent], "inverse_gamma": [InverseGamma], "kumaraswamy": [Kumaraswamy], "laplace": [Laplace], "lkj_cholesky": [LKJCholesky], "lowrank_multivariate_normal": [LowRankMultivariateNormal], "log_normal": [LogNormal],
    "logistic_normal": [LogisticNormal], "mixture_same_family": [MixtureSameFamily], "multinomial": [Multinomial], "multivariate_normal": [MultivariateNormal],
    "negative_binomial": [NegativeBinomial], "normal": [Normal], "one_hot_categorical": [OneHotCategorical, OneHotCategoricalStraightThrough], "pareto": [Pareto],
    "poisson": [Poisson], "relaxed_bernoulli": [RelaxedBernoulli, LogitRelaxedBernoulli], "relaxed_categorical": [RelaxedOneHotCategorical, ExpRelaxedCategorical],
    "studentT": [StudentT], "transformed_distribution": [TransformedDistribution], "uniform": [Uniform], "von_mises": [VonMises], "wishart": [Wishart], "weibull": [Weibull]})

__getattr__ = attribute("torch.distributions")
