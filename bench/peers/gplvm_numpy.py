#!/usr/bin/env python3
"""Times the bound of the Bayesian GP-LVM with the gradient in everything as NumPy can do it at best, on one thread.

    build/peers/scikit-learn/bin/python bench/peers/gplvm_numpy.py [--sizes 1000,5000] [--latent 10] [--inducing 50]
    build/peers/scikit-learn/bin/python bench/peers/gplvm_numpy.py --check

The data and parameters are those of bench/gplvm_bench.cpp, to the bit, and the lines are those of gplvm.py.

Of SE-ARD, log psi2 for a row and a pair of inducing inputs is quadratic in the middle of the pair: an inner product of
2Q + 1 coefficients of the row with as many features of the pair. So one product of matrices and one exp over an array of
N×M(M+1)/2 give psi2, and two more products its gradient; there is no other pass over the array.

--check holds the value against loops over rows and pairs, and the gradient against central differences of the value.
"""

import os

for name in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"]:
    os.environ[name] = "1"  # before NumPy loads its BLAS

import argparse
import json
import math
import sys

import numpy as np

from gplvm import NOISE, VARIANCE, make_data, measure

BLOCK = 32  # rows whose values of all pairs stay in the cache from one product to the next: the fastest of 8 … N
STEP, TOLERANCE = 1e-5, {"value": 1e-11, "gradient": 1e-7}  # of --check, relative to the largest


class Rows:
    """psi1 and psi2 share log psi = of_rows · of_points + a constant: a kernel of h·(x − point)² in the scaled inputs,
    with h = 1/2 and the points Z, or h = 1 and the middles of pairs of them. Arrays of N rows are made once."""

    def __init__(self, h, n, q):
        self.h = h
        self.coefficients = np.ones((n, 2 * q + 2))  # the last column stays: it adds up rows, the others weigh them
        self.of_rows, self.weights = self.coefficients[:, :-1], self.coefficients[:, 1:]
        self.a, self.a_mean = self.coefficients[:, 1 : q + 1], self.coefficients[:, q + 1 : -1]
        self.d, self.work, self.mean_bar, self.S_bar = np.empty((4, n, q))
        self.bar = np.empty((n, 2 * q + 1))

    def evaluate(self, w, mean, S):
        d = np.multiply(2.0 * self.h * w, S, out=self.d)
        d += 1.0
        np.divide(self.h * w, d, out=self.a)
        np.multiply(self.a, mean, out=self.a_mean)
        constant = np.log(d, out=self.work).sum(1)
        constant *= -0.5
        constant -= np.einsum("iq,iq->i", self.a_mean, mean)
        self.coefficients[:, 0] = constant

    @staticmethod
    def of_points(X):
        return np.concatenate([np.ones((1, len(X))), -(X.T**2), 2.0 * X.T])

    @staticmethod
    def points_bar(X, sums):
        """What X gets, given sums[:, p] = Σ_i weights[i]·bar[i, p]."""
        q = X.shape[1]
        return 2.0 * (sums[q:-1].T - X * sums[:q].T)

    def pullback(self, w, mean, S):
        """What mean, S and w get, given bar, that of of_rows. Written over it."""
        q = len(w)
        constant, of_a, of_a_mean = self.bar[:, :1], self.bar[:, 1 : q + 1], self.bar[:, q + 1 :]
        shift = np.multiply(constant, mean, out=self.work)
        of_a_mean -= shift
        of_a += np.multiply(mean, of_a_mean, out=self.S_bar)
        np.multiply(self.a, np.subtract(of_a_mean, shift, out=self.mean_bar), out=self.mean_bar)
        # S_bar = −a (2a of_a + constant), and of w's, a (of_a / d − constant S) / w for each row.
        np.multiply(self.a, of_a, out=self.S_bar)
        self.S_bar *= -2.0
        self.S_bar -= constant
        self.S_bar *= self.a
        of_a /= self.d
        of_a -= np.multiply(constant, S, out=self.work)
        return np.einsum("iq,iq->q", self.a, of_a) / w


class NumPy:
    """The parameters, of which the positive ones are logarithms: variance, lengthscales, noise, Z, mean and S of q(X)."""

    version = np.__version__

    def __init__(self, mean, variance, Z, Y, lengthscales):
        self.Y, self.trace = Y, float(np.sum(Y * Y))
        (n, q), m = mean.shape, len(Z)
        kernel = np.log([VARIANCE, *lengthscales, NOISE])
        self.start = np.concatenate([kernel, Z.ravel(), mean.ravel(), np.log(variance).ravel()])
        self.at = np.cumsum([q + 2, m * q, n * q])
        self.j, self.k = np.tril_indices(m)
        pairs = np.arange(len(self.j))
        self.pair_of = np.empty((m, m), dtype=int)
        self.pair_of[self.j, self.k] = self.pair_of[self.k, self.j] = pairs
        self.entries = np.where(self.j == self.k, 1.0, 2.0)  # of the matrix, that a pair stands for
        self.halves = np.zeros((m, len(pairs)))  # Z to the middles of pairs
        np.add.at(self.halves, (self.j, pairs), 0.5)
        np.add.at(self.halves, (self.k, pairs), 0.5)
        self.rows1, self.rows2 = Rows(0.5, n, q), Rows(1.0, n, q)
        self.psi1, self.psi1_bar = np.empty((2, n, m))
        self.values = np.empty((n, len(pairs)))
        self.sums, self.block_sums = np.empty((2, 2 * q + 1, len(pairs)))

    def unpack(self, theta):
        kernel, Z, mean, log_S = np.split(theta, self.at)
        kernel = np.exp(kernel)
        q = len(kernel) - 2
        return kernel[0], kernel[1:-1], kernel[-1], Z.reshape(-1, q), mean.reshape(-1, q), np.exp(log_S).reshape(-1, q)

    def blocks(self):
        n = len(self.values)
        return [slice(first, min(first + BLOCK, n)) for first in range(0, n, BLOCK)]

    def add_up(self, features):
        """Fills values; sums are those over the rows, weighted for the gradient too: what bar they get is the same for
        all rows, so that no second pass is needed for the pairs."""
        self.sums[:] = 0.0
        for block in self.blocks():
            values = self.values[block]
            np.matmul(self.rows2.of_rows[block], features, out=values)
            np.exp(values, out=values)
            self.sums += np.matmul(self.rows2.weights[block].T, values, out=self.block_sums)

    def evaluate(self, shift):
        return self.bound(self.start + shift)

    def bound(self, theta):
        variance, lengthscales, noise, Z, mean, S = self.unpack(theta)
        (n, p), (m, q) = self.Y.shape, Z.shape
        w, beta = lengthscales**-2, 1.0 / noise

        middles = self.halves.T @ Z
        scaled = Z / lengthscales
        norms = np.sum(scaled * scaled, axis=1)
        apart = np.maximum(norms[:, None] + norms - 2.0 * scaled @ scaled.T, 0.0)
        Kuu = variance * np.exp(-0.5 * apart)
        of_pairs = variance * variance * np.exp(-0.25 * apart[self.j, self.k])  # what of psi2 no row has a part in
        rows1, rows2, features1, features2 = self.rows1, self.rows2, Rows.of_points(Z), Rows.of_points(middles)
        rows1.evaluate(w, mean, S)
        psi1 = np.matmul(rows1.of_rows, features1, out=self.psi1)
        np.exp(psi1, out=psi1)
        psi1 *= variance
        rows2.evaluate(w, mean, S)
        self.add_up(features2)
        psi2 = (of_pairs * self.sums[-1])[self.pair_of]

        # A = Kuu + β Ψ2 by way of L⁻¹ Ψ2 L⁻ᵀ, which keeps the digits that Kuu would cost.
        Linv = np.linalg.inv(np.linalg.cholesky(Kuu))
        inner = Linv @ psi2 @ Linv.T
        factor = np.linalg.cholesky(np.eye(m) + beta * inner)
        Ainv_half = np.linalg.inv(factor) @ Linv
        C = psi1.T @ self.Y
        whitened = Ainv_half @ C
        alpha = beta * (Ainv_half.T @ whitened)  # β A⁻¹ Ψ1ᵀ Y
        explained, traced = np.sum(whitened * whitened), np.trace(inner)
        kl = 0.5 * (np.sum(mean * mean) + np.sum(S) - np.sum(theta[self.at[-1] :]) - n * q)
        value = (
            0.5 * n * p * math.log(beta / (2.0 * math.pi)) - p * np.sum(np.log(np.diag(factor)))
            - 0.5 * beta * self.trace + 0.5 * beta * beta * explained - 0.5 * p * beta * (n * variance - traced) - kl
        )

        # Bars of A, psi2, Kuu and psi1, the last two times themselves: those of their logarithms.
        Kinv = Linv.T @ Linv
        A_bar = -0.5 * (p * (Ainv_half.T @ Ainv_half) + alpha @ alpha.T)
        psi2_bar = beta * (A_bar + (0.5 * p) * Kinv)
        Kuu_bar = (A_bar + (0.5 * p) * (Kinv - beta * (Linv.T @ inner @ Linv))) * Kuu
        psi1_bar = np.matmul(self.Y, beta * alpha.T, out=self.psi1_bar)
        psi1_bar *= psi1
        beta_bar = (
            0.5 * n * p * noise + np.sum(A_bar * psi2) - 0.5 * self.trace + beta * explained
            - 0.5 * p * (n * variance - traced)
        )

        of_pairs *= self.entries * psi2_bar[self.j, self.k]
        pair_features = np.ascontiguousarray((features2 * of_pairs).T)
        for block in self.blocks():
            np.matmul(self.values[block], pair_features, out=rows2.bar[block])
        np.matmul(psi1_bar, features1.T, out=rows1.bar)
        w_bar = rows1.pullback(w, mean, S) + rows2.pullback(w, mean, S)

        # Distances between inducing inputs: Kuu has a half of their squares, psi2 a quarter.
        psi2_bar *= psi2
        V = Kuu_bar + 0.5 * psi2_bar
        V_rows, VZ = V.sum(1)[:, None], V @ Z
        Z_bar = 2.0 * w * (VZ - V_rows * Z) + Rows.points_bar(Z, rows1.weights.T @ psi1_bar)
        Z_bar += self.halves @ Rows.points_bar(middles, self.sums * of_pairs)
        w_bar += np.sum(Z * (VZ - V_rows * Z), axis=0)
        variance_bar = Kuu_bar.sum() + psi1_bar.sum() + 2.0 * psi2_bar.sum() - 0.5 * p * beta * n * variance

        gradient = np.empty_like(theta)
        kernel_bar, flat_Z_bar, mean_bar, S_bar = np.split(gradient, self.at)
        kernel_bar[:] = [variance_bar, *(-2.0 * w * w_bar), -beta * beta_bar]
        flat_Z_bar[:] = Z_bar.ravel()
        np.add(rows1.mean_bar.ravel(), rows2.mean_bar.ravel(), out=mean_bar)
        mean_bar -= mean.ravel()
        np.add(rows1.S_bar.ravel(), rows2.S_bar.ravel(), out=S_bar)
        S_bar -= 0.5
        S_bar *= S.ravel()
        S_bar += 0.5
        return value, gradient


def naive_bound(model, theta):
    """By the formulas as they are written: loops over rows and pairs, inverses and determinants."""
    variance, lengthscales, noise, Z, mean, S = model.unpack(theta)
    (n, p), m = model.Y.shape, len(Z)
    ll, beta = lengthscales**2, 1.0 / noise
    Kuu, psi1, psi2 = np.empty((m, m)), np.empty((n, m)), np.zeros((m, m))
    for j in range(m):
        for k in range(m):
            Kuu[j, k] = variance * math.exp(-0.5 * np.sum((Z[j] - Z[k]) ** 2 / ll))
        for i in range(n):
            scale = np.prod(1.0 + S[i] / ll) ** -0.5
            psi1[i, j] = variance * scale * math.exp(-0.5 * np.sum((mean[i] - Z[j]) ** 2 / (ll + S[i])))
            for k in range(m):
                scale = np.prod(1.0 + 2.0 * S[i] / ll) ** -0.5
                distance = 0.25 * (Z[j] - Z[k]) ** 2 / ll + (mean[i] - 0.5 * (Z[j] + Z[k])) ** 2 / (ll + 2.0 * S[i])
                psi2[j, k] += variance**2 * scale * math.exp(-np.sum(distance))
    A, C = Kuu + beta * psi2, psi1.T @ model.Y
    log_ratio = np.linalg.slogdet(A)[1] - np.linalg.slogdet(Kuu)[1]
    fit = np.sum(model.Y**2) - beta * np.trace(C.T @ np.linalg.inv(A) @ C)
    slack = n * variance - np.trace(np.linalg.inv(Kuu) @ psi2)
    kl = 0.5 * np.sum(mean**2 + S - np.log(S) - 1.0)
    return 0.5 * p * (n * math.log(beta / (2.0 * math.pi)) - log_ratio - beta * slack) - 0.5 * beta * fit - kl


def check(n, q, m):
    """Prints the largest relative differences; fails when one is too large."""
    model = NumPy(*make_data(n, q, m))
    theta = model.start
    value, gradient = model.bound(theta)
    expected = naive_bound(model, theta)
    differences = np.empty_like(gradient)
    for at in range(len(theta)):
        step = np.where(np.arange(len(theta)) == at, STEP, 0.0)
        differences[at] = (model.bound(theta + step)[0] - model.bound(theta - step)[0]) / (2.0 * STEP)
    names = ["variance", "lengthscales", "noise", "Z", "mean", "S"]
    parts = np.split(np.arange(len(theta)), [1, q + 1, *model.at])
    gaps = {"value": abs(value - expected) / abs(expected)}
    gaps |= {x: np.max(np.abs(gradient - differences)[part]) / np.max(np.abs(differences[part]))
             for x, part in zip(names, parts, strict=True)}
    print(f"N = {n}, Q = {q}, M = {m}: value {value:.12g}; " + ", ".join(f"{x} {gap:.0e}" for x, gap in gaps.items()))
    for x, gap in gaps.items():
        if not gap <= TOLERANCE["value" if x == "value" else "gradient"]:
            sys.exit(f"{x} is off by {gap:.1e}")


def main():
    parser = argparse.ArgumentParser(description="Times the Bayesian GP-LVM in NumPy, on one thread.")
    parser.add_argument("--sizes", default="1000,5000")
    parser.add_argument("--latent", type=int, default=10)
    parser.add_argument("--inducing", type=int, default=50)
    parser.add_argument("--check", action="store_true", help="the value and the gradient, at small N")
    options = parser.parse_args()
    if options.check:
        for case in [(20, 2, 5), (70, 3, 8), (BLOCK, 10, 12)]:
            check(*case)
        return
    for n in [int(size) for size in options.sizes.split(",")]:
        line = {"peer": "numpy", "n": n, "q": options.latent, "m": options.inducing, "threads": 1}
        print(json.dumps(line | measure(NumPy, n, options.latent, options.inducing)), flush=True)


if __name__ == "__main__":
    main()
