"""The sparse approximations from their definitions, by N×N matrices in NumPy: slow, plain, and apart from any peer."""

import numpy as np

from reference import block


def log_normal(R, S):
    """Σ over the columns r of R: log N(r; 0, S)."""
    n, outputs = R.shape
    return -0.5 * (np.sum(R * np.linalg.solve(S, R)) + outputs * (np.linalg.slogdet(S)[1] + n * np.log(2 * np.pi)))


def evaluate(case, approximation, jitter, X, Y, Z, Xstar):
    theta = {path: np.asarray(value, float) for path, value in case.parameters().items()}
    k = lambda A, B: block(case.kernel, theta, A, B)
    basis = lambda A: np.hstack([np.ones((len(A), 1)), A])
    weights = np.zeros((1 + X.shape[1], Y.shape[1])) if case.mean_weights is None else np.array(case.mean_weights)
    R = Y - basis(X) @ weights
    N, P, s = *Y.shape, case.noise
    Kuu, Kuf, Kus = k(Z, Z) + jitter * np.eye(len(Z)), k(Z, X), k(Z, Xstar)
    Qff = Kuf.T @ np.linalg.solve(Kuu, Kuf)
    d = np.diag(k(X, X)) - np.diag(Qff)
    if approximation == "vfe":
        G, term = np.full(N, s), -np.sum(d) / (2 * s)
    else:
        alpha = 1.0 if approximation == "fitc" else float(approximation[4:-1])
        G, term = s + alpha * d, -(1 - alpha) / (2 * alpha) * np.sum(np.log(1 + alpha * d / s))
    S = Qff + np.diag(G)
    Qsf = Kus.T @ np.linalg.solve(Kuu, Kuf)
    answer = {
        "value": log_normal(R, S) + P * term,
        "mean": Qsf @ np.linalg.solve(S, R) + basis(Xstar) @ weights,
        "variance_f": np.diag(k(Xstar, Xstar)) - np.sum(Qsf * np.linalg.solve(S, Qsf.T).T, axis=1),
    }
    if approximation == "vfe":
        inner = np.linalg.slogdet(S)[1] + N * np.log(2 * np.pi)
        answer["upper_bound"] = -0.5 * (P * inner + np.sum(R * np.linalg.solve(S + np.sum(d) * np.eye(N), R)))
    return answer
