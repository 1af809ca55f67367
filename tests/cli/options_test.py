"""Every option of `fit` with every model of the table: an effect, or a refusal that says who reads it."""

import json
import os
import re
import unittest
from concurrent.futures import ThreadPoolExecutor

from model_lines import LINES, merged, without, write_tables
from support import CommandLine, covary

# How a model of the table is called, by its label there.
CALLS = {label: tuple(line.split()[1:]) for label, line in LINES.items()}
GAUSSIAN_ALONE = [label for label, call in CALLS.items() if "y" in call]
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
    "circular": (("--circular", "t=3"), ()),
    "missing": (("--missing", "drop"), ()), "scale": (("--scale", "none"), ()), "no-scale": (("--no-scale",), ()),
    "pca": (("--pca", "1"), ()), "gplvm": (("--gplvm", "1"), ()), "jitter": (("--jitter", "0.01"), ()),
    "max-iter": (("--max-iter", "2"), ()), "max-seconds": (("--max-seconds", "1e-9"), ()),
    "restarts": (("--restarts", "2"), ()), "folds": (("--folds", "2"), ()), "seed": (("--seed", "5"), ()),
    "verbose": (("--verbose",), ()), "header": (("--header", "no"), ()), "inducing": (("--inducing", "4"), ()),
    "inducing-file": (("--inducing-file", "Z.csv"), ()), "selection": (("--selection", "kmeans"), ()),
    "features": (("--features", "basis(2)"), ()), "route": (("--route", "stable"), ()),
    "warm-start": (("--warm-start", "fitc"), ()), "groups": (("--groups", "3"), ()),
    "covariance": (("--covariance", "diagonal"), ()), "batch": (("--batch", "6"), ()), "epochs": (("--epochs", "3"), ()),
    "steps": (("--steps", "4"), ()), "learning-rate": (("--learning-rate", "0.1"), ()),
    "schedule": (("--schedule", "constant"), ()), "decay": (("--decay", "0.9"), ()), "every": (("--every", "2"), ()),
    "warm-up": (("--warm-up", "5"), ()),
    # 60 rows, for the number is sought from 32 on.
    "bracket": (("--bracket", "1e-12"), ("--inducing", "auto")),
    "most-inducing": (("--most-inducing", "5"), ("--inducing", "auto")),
    "planned-kl": (("--planned-kl", "20"), ("--inducing", "auto", "--features", "eigen", "--kernel", "se")),
    "certificate-flops": (("--certificate-flops", "1"), ()),
    "certificate-iterations": (("--certificate-iterations", "1"), ()), "natural-step": (("--natural-step", "0.5"), ()),
    "functions": (("--functions", "2"), ("--target", "y,z", "--likelihood", "gaussian")),
    "separate-kernels": (("--separate-kernels", "yes"), ()), "latent": (("--latent", "1"), ()), "dynamics": (("--dynamics", "time"), ()),
    "dynamics-kernel": (("--dynamics-kernel", "matern32 + white"), ("--dynamics", "time")),
    "sequences": (("--sequences", "half"), ("--dynamics", "time")),
    "placement": (("--placement", "expected_kl"), ()),
    "placement-rows": (("--placement-rows", "5"), ("--placement", "expected_kl")),
    "input-noise": (("--input-noise", "0.1,0.1"), ()), "input-variance": (("--input-variance", "s,e"), ()),
    "train-input-noise": (("--train-input-noise",), ()), "hold-inputs": (("--hold-inputs",), ()),
    "view": (("--view", "p=t", "--view", "q=u,y,z"), ()), "start-view": (("--start-view", "q"), VIEWS),
    "label": (("--label", "class"), ()), "fixed-point": (("--fixed-point", "3"), ()),
    "back-constraint": (("--back-constraint", "kernel"), ()),
    "discriminative": (("--discriminative", "1"), ("--label", "class")), "snr": (("--snr", "5"), ()),
    "from": (("--from", "FROM"), ()), "standard-errors": (("--standard-errors", "no"), ()), "stream": (("--stream",), ()),
    "checkpoint": (("--checkpoint", "STATE"), ()), "resume": (("--resume",), ("--checkpoint", "STATE")),
    "out": (("--out", "OUT"), ()), "without-outputs": (("--without-outputs",), ("--out", "OUT")),
}

# Pairs of options of which one leaves the other without effect, with the model that reads both.
IDLE = [(label, pair, idle) for pair, idle, labels in (
    ("--inducing-file Z.csv --inducing 5", "inducing", ("vfe", "svgp", "fitc (non-Gaussian)")),
    ("--inducing-file Z.csv --selection kmeans", "selection", ("vfe", "svgp", "fitc (non-Gaussian)")),
    ("--set features.Z=0,1,2,3,4,5,6,7,8,9,10,11 --selection kmeans", "selection", ("vfe", "svgp")),
    ("--features eigen --kernel se --selection kmeans", "selection", ("vfe",)),
    ("--features fourier --kernel matern12@0*matern12@1 --selection kmeans", "selection", ("vfe", "svgp")),
    ("--features rff --selection kmeans", "selection", ("sor",)),
    ("--no-scale --scale columns", "scale", ("exact", "vfe", "laplace", "gplvm", "ppca")),
    ("--kernel se --tie kernel.variance=2*kernel.lengthscales --set kernel.variance=2", "set", ("exact", "vfe", "gplvm")),
) for label in labels]


class Options(CommandLine):
    tried = CALLS

    def setUp(self):
        super().setUp()
        write_tables(self.folder.name)
        self.models = {m["label"]: m for m in self.json_of("models")["models"]}

    def outcome(self, tag, call, table="rows.csv"):
        """All that a call of fit shows for itself."""
        files = {word: f"{tag}.{word.lower()}" for word in ("FROM", "STATE", "OUT")}
        run = covary("fit", table, *(files.get(word, word) for word in call), "--threads", "1", "--json",
                     cwd=self.folder.name)
        made = {}
        for word in ("STATE", "OUT"):
            if word in call and os.path.exists(self.path(files[word])):
                made[word] = True
        if "OUT" in made:  # whether the file has what an update needs
            made["update"] = covary("update", files["OUT"], "rows.csv", "--out", f"{tag}.updated",
                                    cwd=self.folder.name).returncode
        notes = re.sub(r"\d+\.?\d*(e-?\d+)?", "#", run.stderr) if "--verbose" not in call else "lines"
        shown = json.loads(run.stdout)
        for name in ("seconds", "file", "cost"):
            shown.pop(name, None)
        return run.returncode, shown, made, notes

    def of_minibatches(self, label):
        """The options that choose another form of the model."""
        form = self.models.get(label + " by minibatches")
        return set(form["options"]["fit"]) - set(self.models[label]["options"]["fit"]) if form else ()

    def case(self, label, option):
        """The table, and the calls without the option and with it."""
        given, beside = VALUES[option]
        call, table = CALLS[label], "rows.csv"
        first = {"mrd": "views.p.kernel.", "class_density": "class.0.kernel."}.get(label, "kernel.")
        given, beside = (tuple(w.replace("kernel.", first) if "=" in w or option == "fix" else w
                               for w in words) for words in (given, beside))
        read = option in self.models[label]["options"]["fit"]
        if option == "missing":
            table, call = "holed.csv", without(call, {"--missing"})
        elif label == "vfe with --missing learn":
            table = "holed.csv"
        if option == "inducing-file" and read:
            call = without(call, {"--inducing"})
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
        if option == "input-variance" and read:
            call = without(call, {"--input-noise"})
            beside, given = ("--input-variance", "e,s"), ("--input-variance", "s,e")
        if label == "noisy_inputs" and option in ("inputs", "restarts"):
            given = (("--inputs", "t", "--input-noise", "0.01") if option == "inputs" else
                     ("--restarts", "3"))  # two are its default
        if option == "latent" and label == "warped":
            given = ("--latent", "2")
        if option == "dynamics-kernel" and label == "warped":
            beside = ()
        if option == "max-iter" and label == "gplvm by minibatches":
            given = ("--max-iter", "0")
        if option == "bracket" and read:
            table = "many.csv"
        if option in self.of_minibatches(label):
            call = without(call, {"--max-iter"})
        if option in ("batch", "epochs", "steps", "learning-rate", "schedule", "decay", "every", "warm-up",
                      "natural-step") and read:
            call, beside = without(call, {"--max-iter"}), () if option == "batch" else ("--batch", "8")
            if option == "steps":
                call = without(call, {"--epochs"})
        if option == "separate-kernels" and read:
            call = merged(call, ("--target", "three", "--likelihood", "softmax"))
        if option == "likelihood" and label in ("gplvm", "gplvm by minibatches"):
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
            brief = ("--steps", "4") if "--epochs" in plain else ("--max-iter", "2")
            self.outcome(tag, merged(without(plain, {"--epochs"}), (*brief, "--out", "FROM")), table)
        if read and option == "resume":
            self.outcome(tag, merged(plain, ("--checkpoint", "STATE")), table)
        # Those whose file comes before, and after.
        status, shown, made, notes = self.outcome(tag, given, table)
        if option in self.of_minibatches(label):
            return None if (status, "steps of minibatches" in notes) == (0, True) else f"{label}: --{option}: {shown} {notes}"
        if not read:
            if option == "likelihood" and status == 2 and "does not take the likelihood" in shown["error"]:
                return None
            if status != 2 or f"--{option} is for" not in shown.get("error", ""):
                return f"{label}: --{option} is not read, but {status} {str(shown)[:300]}"
            readers = [m for m in self.models.values() if option in m["options"]["fit"]]
            if option == "exposure" and "say --likelihood" in shown["error"]:
                return None  # the likelihood chooses the form that reads it
            forms = lambda one: [m for m in self.models.values() if m["written"] == one["written"]]
            chosen_by_option = lambda m: m["label"].endswith("by minibatches")  # the option makes it that form
            unnamed = [m["label"] for m in readers
                       if (m["written"] if chosen_by_option(m) or all(f in readers for f in forms(m)) else m["label"])
                       not in shown["error"]]
            return f"{label}: the refusal of --{option} does not name {unnamed}" if unnamed else None
        if option == "likelihood" and status == 2 and label in GAUSSIAN_ALONE:
            return None
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
        pairs = [(label, option) for label in self.tried for option in sorted(VALUES)]
        with ThreadPoolExecutor(os.cpu_count()) as pool:
            wrong = [w for w in pool.map(lambda pair: self.check(*pair), pairs) if w]
        self.assertEqual(wrong, [], "\n" + "\n".join(wrong))

    def test_an_option_without_effect_beside_another_is_refused(self):
        for label, pair, idle in IDLE:
            with self.subTest(f"{label} {pair}"):
                call = merged(without(CALLS[label], ("--inducing",)), tuple(pair.split()))
                status, shown, _, _ = self.outcome("pair", call)
                self.assertEqual(status, 2, shown)
                self.assertIn(f"--{idle}", shown["error"])
                self.assertIn("has no effect with", shown["error"])


if __name__ == "__main__":
    unittest.main()
