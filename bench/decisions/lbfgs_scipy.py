"""scipy's L-BFGS-B on the objective of lbfgs_peers.cpp, given as a shared library: see docs/decisions/lbfgs.md."""
import ctypes
import sys

import numpy as np
from scipy.optimize import minimize

lib = ctypes.CDLL(sys.argv[1])
array = np.ctypeslib.ndpointer(np.float64)
lib.objective.argtypes, lib.objective.restype = [array, array], ctypes.c_double
lib.start.argtypes, lib.make_data.argtypes = [ctypes.c_int, array], [ctypes.c_double]


def objective(u):
    g = np.empty(3)
    return lib.objective(np.ascontiguousarray(u), g), g


for noise in (0.1, 1e-4, 1e-6):
    lib.make_data(noise)
    values, at_minimum, total, failed, r = [], 0, 0, 0, -1
    while len(values) < 200:
        r += 1
        u = np.empty(3)
        lib.start(r, u)
        if not np.isfinite(objective(u)[0]):
            continue
        lib.reset_counts()
        u = minimize(objective, u, jac=True, method="L-BFGS-B",
                     options=dict(ftol=1e-12, gtol=1e-6, maxiter=1000)).x
        total += lib.evaluation_count()
        failed += lib.failure_count()
        value, g = objective(u)
        values.append(value if np.isfinite(value) else np.inf)
        at_minimum += np.abs(g).max() <= 1e-4 * max(1.0, abs(value))
    values.sort()
    print(f"noise {noise}: scipy L-BFGS-B {at_minimum} {total / 200:.1f} {failed / 200:.1f} "
          f"{values[0]:.4f} {values[100]:.4f} {values[180]:.4f}")
