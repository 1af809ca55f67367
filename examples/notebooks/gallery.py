# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---

# %% [markdown]
# # Gallery
#
# What the models do, in one picture each, with the lines that drew it.

# %%
import matplotlib.pyplot as plt
import numpy as np

import covary as cv
import covary.plot

random = np.random.default_rng(0)
plt.rcParams["figure.figsize"] = (7, 3)

# %% [markdown]
# ## A trend and a period
#
# A sum of kernels, and the share of each. [Kernels](../kernels.md)

# %%
t = np.linspace(0, 10, 120)[:, None]
y = 0.3 * t[:, 0] + np.sin(2 * np.pi * t[:, 0] / 1.5) + 0.2 * random.standard_normal(120)
fit = cv.Regression(t, y, kernel="linear + periodic").fit(seed=0)
covary.plot.components(fit)
plt.show()

# %% [markdown]
# ## Many rows
#
# Twenty inducing inputs stand for two thousand rows. [Sparse regression](../sparse-regression.md)

# %%
X = random.uniform(0, 10, (2000, 1))
y = np.sin(X[:, 0]) * np.exp(-0.2 * X[:, 0]) + 0.1 * random.standard_normal(2000)
fit = cv.SparseRegression(X, y, inducing=20).fit(seed=0)
covary.plot.curve(fit)  # the ticks are the inducing inputs
plt.show()

# %% [markdown]
# ## Two classes
#
# The probability of a class, and that it is not known between them. [Classification](../classification.md)

# %%
X = random.standard_normal((150, 2))
label = X[:, 0] ** 2 + X[:, 1] > 0.5
classifier = cv.GPClassifier(random_state=0).fit(X, label)
grid = np.linspace(-3, 3, 60)
points = np.array([[a, b] for b in grid for a in grid])
plt.contourf(grid, grid, classifier.predict_proba(points)[:, 1].reshape(60, 60), 20, cmap="RdBu_r")
plt.scatter(*X.T, c=label.astype(int), cmap="RdBu_r", edgecolors="k", s=15)
plt.colorbar()
plt.show()

# %% [markdown]
# ## Hidden dimensions
#
# Eight columns that two numbers explain. [Latent-variable models](../latent-variables.md)

# %%
latent = random.standard_normal((80, 2))
Y = np.tanh(latent @ random.standard_normal((2, 8))) + 0.05 * random.standard_normal((80, 8))
model = cv.BayesianGPLVM(latent=5, random_state=0).fit(Y)
places = model.transform(Y)
order = np.argsort(-places.std(axis=0))
plt.scatter(places[:, order[0]], places[:, order[1]], c=latent[:, 0])
plt.show()
