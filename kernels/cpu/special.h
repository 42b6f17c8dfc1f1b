// Functions of one number that several kernels need.
#pragma once

namespace peel::kernels {

/// The derivative of the logarithm of the gamma function.
double digamma_of(double x);

}  // namespace peel::kernels
