#!/usr/bin/env python3
"""The support vector machine of Table 3.3 (Damianou 2015), by scikit-learn: errors on the USPS test images.

    experiments/usps_svm.py DATA [ROWS]     DATA is the folder with usps/; ROWS a random part of either file

One against the rest with a radial basis function, its C by five folds of the training images.
"""
import sys
from pathlib import Path

import numpy as np
from sklearn.model_selection import GridSearchCV
from sklearn.multiclass import OneVsRestClassifier
from sklearn.svm import SVC


def images(path, rows):
    table = np.loadtxt(path, delimiter=",", skiprows=1)
    if rows and rows < len(table):
        table = table[np.random.default_rng(0).choice(len(table), rows, replace=False)]
    return table[:, 1:], table[:, 0].astype(int)


def main():
    data, rows = Path(sys.argv[1]) / "usps", int(sys.argv[2]) if len(sys.argv) > 2 else 0
    X, y = images(data / "train.csv.gz", rows)
    Xnew, ynew = images(data / "test.csv.gz", rows)
    search = GridSearchCV(OneVsRestClassifier(SVC(gamma="scale")), {"estimator__C": [0.1, 1, 10, 100]}, cv=5, n_jobs=1)
    search.fit(X, y)
    wrong = int((search.predict(Xnew) != ynew).sum())
    print(f"C = {search.best_params_['estimator__C']}: {wrong} errors of {len(ynew)} ({100 * wrong / len(ynew):.2f} %)")


if __name__ == "__main__":
    main()
