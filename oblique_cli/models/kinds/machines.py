"""Support vector machines, proximal and scikit-learn's, as the arrays that predictions need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from oblique_cli.models.codecs import REAL, TEXT, Codec, Labels, Many, Maybe, Numbers, Record, Scope, Whole, fields_of
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, Kind


def _scaler(fields: dict[str, Any], scope: Scope) -> Any:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    vars(scaler).update(fields, n_features_in_=len(fields["mean_"]), n_samples_seen_=fields["n_samples_seen_"])
    return scaler


SCALER = Record(
    "sklearn.preprocessing:StandardScaler",
    {**dict.fromkeys(("mean_", "var_", "scale_"), Numbers("float64", ("p",))), "n_samples_seen_": REAL},
    _scaler,
)


def _planes_fit(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    width = len(state["_centers"]) if parameters.get("kernel") == "gaussian" else state["n_features_in_"]
    if state["planes_"].shape[1] != width + 1:
        raise ValueError(f"planes_ must have {width + 1} columns. Got {state['planes_'].shape[1]}")


KINDS.register("proximal_planes")(
    Kind(
        classes=("GEPSVMClassifier",),
        state={
            **CLASSIFIER,
            "_scaler": Maybe(SCALER),
            "_centers": Numbers("float64", ("training rows", "p")),
            "planes_": Numbers("float64", ("C", "coefficients")),
            "_lengths": Numbers("float64", ("C",)),
        },
        check=_planes_fit,
    )
)


SETTINGS = {"kernel": "kernel", "cost": "C", "width": "gamma"}


def _attributes(machine: Any) -> dict[str, Any]:
    return {name: getattr(machine, SETTINGS.get(name, name)) for name in MACHINE.fields}


def _machine(fields: dict[str, Any], scope: Scope) -> Any:
    from sklearn.svm import SVC

    m = scope.sizes["m"]
    for name, expected in (("m less 1", m - 1), ("pairs", m * (m - 1) // 2)):
        if scope.sizes[name] != expected:
            raise ValueError(f"arrays are of {scope.sizes[name]} ({name}), and {m} classes need {expected}")
    if fields["_n_support"].sum() != scope.sizes["vectors"] or fields["kernel"] not in ("linear", "rbf"):
        raise ValueError("_n_support does not add up, or the kernel is unknown")
    machine = SVC(**{setting: fields.pop(name) for name, setting in SETTINGS.items()}, cache_size=400)
    # Values of these attributes in a machine without probabilities.
    empty = {"_probA": np.zeros(0), "_probB": np.zeros(0), "_sparse": False, "_effective_probability": False}
    vars(machine).update(fields, **empty, n_features_in_=scope.sizes["p"])
    return machine


# One machine of scikit-learn with LIBSVM's arrays: a set of vector weights for each pair of m classes.
MACHINE = Record(
    "sklearn.svm:SVC",
    {
        "kernel": TEXT,
        **dict.fromkeys(("cost", "width"), REAL),
        "classes_": Labels("m"),
        "class_weight_": Numbers("float64", ("m",)),
        "_gamma": REAL,
        "support_": Numbers("int32", ("vectors",), 0),
        "support_vectors_": Numbers("float64", ("vectors", "p")),
        "_n_support": Numbers("int32", ("m",), 0),
        "dual_coef_": Numbers("float64", ("m less 1", "vectors")),
        "intercept_": Numbers("float64", ("pairs",)),
        "_dual_coef_": Numbers("float64", ("m less 1", "vectors")),
        "_intercept_": Numbers("float64", ("pairs",)),
        **dict.fromkeys(("_num_iter", "n_iter_"), Numbers("int32", ("pairs",))),
        "shape_fit_": Many(Whole(1), 2, kind=tuple),
        "fit_status_": Whole(0, 2),
    },
    _machine,
    parts=_attributes,
)


class Machines(Codec):
    """The model of `SupportVectorClassifier`: an optional scaler, and one machine or one per class."""

    forms: Mapping[str, Codec] = {"scaler": Maybe(SCALER), "one": Maybe(MACHINE), "each": Maybe(Many(MACHINE, "C"))}

    def plain(self, value: Any, scope: Scope) -> Any:
        scaler, machine = value if hasattr(value, "steps") else (None, value)
        each = getattr(machine, "estimators_", None)
        fields = {"scaler": scaler, "one": machine if each is None else None, "each": each}
        return {name: form.plain(fields[name], scope.at(name)) for name, form in self.forms.items()}

    def value(self, plain: Any, scope: Scope) -> Any:
        from sklearn.multiclass import OneVsRestClassifier
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import LabelBinarizer

        fields = fields_of(plain, self.forms, scope)
        machine, each = fields["one"], fields["each"]
        if (machine is None) == (each is None):
            scope.fail("must have one machine, or one for each class")
        classes = scope.arrays.shared["classes"]
        if machine is None:
            if any(len(binary.classes_) != 2 for binary in each) or len(classes) < 3:
                scope.fail("must have machines of two classes, for three classes or more")
            machine = OneVsRestClassifier(each[0])
            binarizer = LabelBinarizer(sparse_output=True).fit(classes)
            further = {"classes_": binarizer.classes_, "n_features_in_": scope.sizes["p"]}
            vars(machine).update(estimators_=each, label_binarizer_=binarizer, **further)
        elif not np.array_equal(machine.classes_, classes):
            scope.fail("must have a machine of the model's classes")
        return machine if fields["scaler"] is None else make_pipeline(fields["scaler"], machine)


KINDS.register("support_vectors")(
    Kind(classes=("SupportVectorClassifier",), state={**CLASSIFIER, "_machine": Maybe(Machines())})
)
