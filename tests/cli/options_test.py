"""Every option of `fit` with every model of the table: an effect, or a refusal that says who reads it."""

import json
import math
import os
import random
import re
import unittest
from concurrent.futures import ThreadPoolExecutor

from support import CommandLine, covary

GAUSSIAN = ("--target", "y", "--inputs", "t,u", "--max-iter", "5")
CLASSES = ("--target", "class", "--inputs", "t,u", "--max-iter", "5", "--likelihood", "bernoulli")
LATENT = ("--target", "t,u,y,z", "--max-iter", "5", "--latent", "2")
SIX = ("--inducing", "6")
SPARSE = ("vfe", "vfe(tight)", "fitc", "pep(0.5)", "dtc", "sor", "pitc", "cglb")

# How a model of the table is called, by its label there.
CALLS = {
    "exact": ("--model", "exact", *GAUSSIAN),
    **{m.replace("0.5", "α"): ("--model", m, *SIX, *GAUSSIAN) for m in SPARSE},
    "vfe with --missing learn": ("--model", "vfe", "--missing", "learn", *SIX, *GAUSSIAN),
    **{m: ("--model", m, *CLASSES) for m in ("laplace", "ep", "vgp")},
    "svgp": ("--model", "svgp", *SIX, *CLASSES),
    "fitc of other likelihoods": ("--model", "fitc", *SIX, *CLASSES),
    "pep(α) of other likelihoods": ("--model", "pep(0.5)", *SIX, *CLASSES),
    "gplvm": ("--model", "gplvm", *SIX, *LATENT),
    "gplvm by minibatches": ("--model", "gplvm", "--batch", "8", "--epochs", "2", *SIX, "--target", "t,u,y,z", "--latent",
                             "2"),
    "mrd": ("--model", "mrd", "--view", "p=t,u", "--view", "q=y,z", *SIX, *LATENT),
    "map_gplvm": ("--model", "map_gplvm", *LATENT),
    "ppca": ("--model", "ppca", "--target", "t,u,y,z", "--latent", "2"),
    "class_density": ("--model", "class_density", "--target", "class", "--inputs", "t,u,y,z", "--latent", "2", *SIX,
                      "--max-iter", "5"),
}
VIEWS = ("--view", "p=t,u", "--view", "q=y,z")
# An option with a value that tells, and what else is given with and without it.
VALUES = {
    "target": (("--target", "z"), ()), "inputs": (("--inputs", "t"), ()), "lags": (("--lags", "2"), ()),
    "likelihood": (("--likelihood", "bernoulli(probit)"), ()), "kernel": (("--kernel", "matern32"), ()),
    "mean": (("--mean", "constant"), ()), "set": (("--set", "kernel.variance=0.5"), ()),
    "fix": (("--fix", "kernel.variance"), ()), "prior": (("--prior", "kernel.variance=gamma(2,1)"), ()),
    "bounds": (("--bounds", "kernel.variance=0.9,1.1"), ()),
    "tie": (("--tie", "kernel.variance=2*kernel.lengthscales"), ("--kernel", "se")),
    "noise": (("--noise", "s"), ()), "exposure": (("--exposure", "e"), ()), "weights": (("--weights", "w"), ()),
    "missing": (("--missing", "drop"), ()), "scale": (("--scale", "none"), ()), "no-scale": (("--no-scale",), ()),
    "pca": (("--pca", "1"), ()), "gplvm": (("--gplvm", "1"), ()), "jitter": (("--jitter", "0.01"), ()),
    "max-iter": (("--max-iter", "2"), ()), "max-seconds": (("--max-seconds", "1e-9"), ()),
    "restarts": (("--restarts", "2"), ()), "folds": (("--folds", "2"), ()), "seed": (("--seed", "5"), ()),
    "verbose": (("--verbose",), ()), "header": (("--header", "no"), ()), "inducing": (("--inducing", "4"), ()),
    "inducing-file": (("--inducing-file", "Z.csv"), ()), "selection": (("--selection", "kmeans"), ()),
    "features": (("--features", "multiscale"), ()), "route": (("--route", "stable"), ()),
    "warm-start": (("--warm-start", "fitc"), ()), "groups": (("--groups", "3"), ()),
    "covariance": (("--covariance", "diagonal"), ()), "batch": (("--batch", "6"), ()), "epochs": (("--epochs", "3"), ()),
    "steps": (("--steps", "4"), ()), "learning-rate": (("--learning-rate", "0.1"), ()),
    "schedule": (("--schedule", "constant"), ()), "natural-step": (("--natural-step", "0.5"), ()),
    "separate-kernels": (("--separate-kernels", "yes"), ()), "latent": (("--latent", "1"), ()), "dynamics": (("--dynamics", "time"), ()),
    "dynamics-kernel": (("--dynamics-kernel", "matern32 + white"), ("--dynamics", "time")),
    "sequences": (("--sequences", "half"), ("--dynamics", "time")),
    "view": (("--view", "p=t", "--view", "q=u,y,z"), ()), "start-view": (("--start-view", "q"), VIEWS),
    "label": (("--label", "class"), ()), "fixed-point": (("--fixed-point", "3"), ()),
    "back-constraint": (("--back-constraint", "kernel"), ()),
    "discriminative": (("--discriminative", "1"), ("--label", "class")), "snr": (("--snr", "5"), ()),
    "from": (("--from", "FROM"), ()), "standard-errors": (("--standard-errors", "no"), ()), "stream": (("--stream",), ()),
    "checkpoint": (("--checkpoint", "STATE"), ()), "resume": (("--resume",), ("--checkpoint", "STATE")),
    "out": (("--out", "OUT"), ()), "without-outputs": (("--without-outputs",), ("--out", "OUT")),
}


def without(call, names):
    """The call without these options, each of which has one argument."""
    out, skip = [], False
    for word in call:
        if skip:
            skip = False
        elif word in names:
            skip = True
        else:
            out.append(word)
    return out


def merged(call, more):
    return without(call, {word for word in more if word.startswith("--")}) + list(more)


class Options(CommandLine):
    def setUp(self):
        super().setUp()
        rng, rows = random.Random(1), []
        for i in range(24):
            t, u = -2 + i / 6, rng.uniform(-1, 1)
            y = math.sin(2 * t) + 0.5 * u + 0.2 * rng.gauss(0, 1)
            rows.append([t, u, y, math.cos(t) + 0.1 * rng.gauss(0, 1), 0.1 + 0.1 * (i % 3), 1 + i % 3, i % 2 + 1,
                         "ab"[y > 0], 0.1 * i, i // 12, round(math.exp(y)), "uvw"[int(u > 0) + (y > 0)]])
        self.write("a.csv", self.text(rows))
        rows[5][0] = rows[3][2] = ""
        self.write("holed.csv", self.text(rows))
        self.write("Z.csv", "t,u\n" + "".join(f"{i - 1.5},{0.3 * i - 0.5}\n" for i in range(4)))
        self.models = {m["label"]: m for m in self.json_of("models")["models"]}

    @staticmethod
    def text(rows):
        return "t,u,y,z,s,e,w,class,time,half,count,three\n" + "".join(",".join(map(str, row)) + "\n" for row in rows)

    def outcome(self, tag, call, table="a.csv"):
        """All that a call of fit shows for itself."""
        files = {word: f"{tag}.{word.lower()}" for word in ("FROM", "STATE", "OUT")}
        run = covary("fit", table, *(files.get(word, word) for word in call), "--threads", "1", "--json",
                     cwd=self.folder.name)
        made = {}
        for word in ("STATE", "OUT"):
            if word in call and os.path.exists(self.path(files[word])):
                made[word] = True
        if "OUT" in made:  # whether the file has what an update needs
            made["update"] = covary("update", files["OUT"], "a.csv", "--out", f"{tag}.updated",
                                    cwd=self.folder.name).returncode
        notes = re.sub(r"\d+\.?\d*(e-?\d+)?", "#", run.stderr) if "--verbose" not in call else "lines"
        shown = json.loads(run.stdout)
        for name in ("seconds", "file", "cost"):
            shown.pop(name, None)
        return run.returncode, shown, made, notes

    def case(self, label, option):
        """The table, and the calls without the option and with it."""
        given, beside = VALUES[option]
        call, table = CALLS[label], "a.csv"
        if label == "mrd":
            given, beside = (tuple(w.replace("kernel.", "views.p.kernel.") if "=" in w or option == "fix" else w
                                   for w in words) for words in (given, beside))
        read = option in self.models[label]["options"]["fit"]
        if option == "missing":
            table, call = "holed.csv", without(call, {"--missing"})
        elif label == "vfe with --missing learn":
            table = "holed.csv"
        if option == "lags" and read:
            call = without(call, {"--inputs"})
        if option == "target":
            given = ("--target", "t,u,z") if label in ("gplvm", "gplvm by minibatches", "map_gplvm", "ppca") else given
            given = ("--target", "half", "--inputs", "t,u") if "bernoulli" in call or label == "class_density" else given
            if label == "mrd":
                call, given = merged(call, ("--view", "p=t,u", "--view", "q=z")), ("--target", "t,u,z")
        if option == "noise" and "bernoulli" in call and read:
            call = merged(call, ("--target", "y", "--likelihood", "gaussian"))
        if option == "exposure" and "bernoulli" in call and read:
            call = merged(call, ("--target", "count", "--likelihood", "poisson"))
        if option == "max-iter" and label == "gplvm by minibatches":
            given = ("--max-iter", "0")
        if option in ("batch", "epochs", "steps", "learning-rate", "schedule", "natural-step") and read:
            call, beside = without(call, {"--max-iter"}), () if option == "batch" else ("--batch", "8")
            if option == "steps":
                call = without(call, {"--epochs"})
        if option == "separate-kernels" and read:
            call = merged(call, ("--target", "three", "--likelihood", "softmax"))
        if option == "likelihood" and label == "gplvm by minibatches":
            call, given = merged(call, ("--target", "e,w")), ("--likelihood", "poisson")

        if option == "seed" and read:
            beside = (*beside, *(("--selection", "random") if "selection" in self.models[label]["options"]["fit"] else
                                 ("--restarts", "3") if "restarts" in self.models[label]["options"]["fit"] else ()))
        if not read:
            beside = ()
        return table, merged(call, beside), merged(merged(call, beside), given)

    def check(self, label, option):
        read = option in self.models[label]["options"]["fit"]
        tag = re.sub(r"\W", "_", f"{label}_{option}")
        table, plain, given = self.case(label, option)
        if read and option == "from":
            self.outcome(tag, merged(plain, ("--max-iter", "2", "--out", "FROM")), table)
        if read and option == "resume":
            self.outcome(tag, merged(plain, ("--checkpoint", "STATE")), table)
        # Those whose file comes before, and after.
        status, shown, made, notes = self.outcome(tag, given, table)
        if not read:
            if status != 2 or f"--{option} is for" not in shown.get("error", ""):
                return f"{label}: --{option} is not read, but {status} {str(shown)[:300]}"
            return None
        if option == "likelihood" and status == 2 and label in ("exact", "vfe with --missing learn",
                                                                *(m.replace("0.5", "α") for m in SPARSE)):
            return None  # Gaussian noise alone
        if option == "header" and "error" in shown and "does not read" not in shown["error"]:
            return None  # the names are read as a row
        if status != 0:
            return f"{label}: --{option} is read, but {shown}"
        if (status, shown, made, notes) == self.outcome(tag + "_", plain, table):
            return f"{label}: --{option} has no effect"
        return None

    def test_every_option_has_an_effect_or_is_refused(self):
        self.assertEqual(set(self.models), set(CALLS), "every model of the table is called")
        options = {name for m in self.models.values() for name in m["options"]["fit"]}
        self.assertEqual(options, set(VALUES), "every option that a model reads is tried")
        # An option of one form of a model chooses that form.
        batches, whole = (set(self.models[m]["options"]["fit"]) for m in ("gplvm by minibatches", "gplvm"))
        batches -= whole
        pairs = [(label, option) for label in CALLS for option in sorted(VALUES)
                 if label != "gplvm" or option not in batches]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [w for w in pool.map(lambda pair: self.check(*pair), pairs) if w]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))


if __name__ == "__main__":
    unittest.main()
