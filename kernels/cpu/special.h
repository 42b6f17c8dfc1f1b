// Functions of one number that several kernels need.
#pragma once

namespace peel::kernels {

/// The derivative of the logarithm of the gamma function.
double digamma_of(double x);
/// The sum of 1 / (q + k)^s over k = 0, 1, ...
double hurwitz_zeta(double s, double q);

}  // namespace peel::kernels
