# ---
# jupyter:
#   jupytext:
#     formats: py:percent
#   kernelspec: {name: python3, display_name: Python 3, language: python}
# ---

# %% [markdown]
# # A first fit
#
# 80 noisy observations of a curve, with a gap in the inputs. [The first hour](../tutorial.md) goes on from here.

# %%
import matplotlib.pyplot as plt
import numpy as np

import covary as cv
import covary.plot

random = np.random.default_rng(0)
X = np.sort(np.concatenate([random.uniform(0, 3, 50), random.uniform(5, 7, 30)]))[:, None]
y = np.sin(2 * X[:, 0]) + 0.2 * random.standard_normal(80)
gp = cv.GPRegressor(kernel="matern52", random_state=0).fit(X, y)
gp.fit_

# %% [markdown]
# The band widens where there are no data. It is for new observations: it holds the noise too.

# %%
covary.plot.curve(gp, draws=3)
plt.show()

# %% [markdown]
# Do the predictions hold for points that the model has not seen? `coverage95` should be near 0.95.

# %%
new = random.uniform(0, 7, (200, 1))
truth = np.sin(2 * new[:, 0]) + 0.2 * random.standard_normal(200)
mean, sd = gp.predict(new, return_std=True)
print(f"RMSE {np.sqrt(np.mean((mean - truth) ** 2)):.3f}, in the band {np.mean(abs(mean - truth) < 1.96 * sd):.2f}")
