"""Support vector machines, proximal and scikit-learn's, as the arrays that predictions need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from oblique_cli.models.codecs import Codec, Labels, Many, Maybe, Numbers, Real, Record, Scope, Text, Whole, fields_of
from oblique_cli.models.kinds._kind import CLASSIFIER, KINDS, Kind


def _scaler(fields: dict[str, Any]) -> Any:
    from sklearn.preprocessing import StandardScaler

    scaler = StandardScaler()
    vars(scaler).update(fields, n_features_in_=len(fields["mean_"]), n_samples_seen_=fields["n_samples_seen_"])
    return scaler


SCALER = Record(
    "sklearn.preprocessing:StandardScaler",
    {
        "mean_": Numbers("float64", ("p",)),
        "var_": Numbers("float64", ("p",)),
        "scale_": Numbers("float64", ("p",)),
        "n_samples_seen_": Real(),
    },
    _scaler,
)


def _planes_fit(parameters: Mapping[str, Any], state: Mapping[str, Any]) -> None:
    width = len(state["_centers"]) if parameters.get("kernel") == "gaussian" else state["n_features_in_"]
    if state["planes_"].shape[1] != width + 1:
        raise ValueError(f"planes_ must have {width + 1} columns. Got {state['planes_'].shape[1]}")


KINDS.register("proximal_planes")(
    Kind(
        classes=("ProximalSVMClassifier",),
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


class Machine(Codec):
    """One machine of scikit-learn with LIBSVM's arrays: for each pair of m classes a set of weights of the vectors."""

    plain_forms: ClassVar[Mapping[str, Codec]] = {
        "classes_": Labels("m"),
        "class_weight_": Numbers("float64", ("m",)),
        "_gamma": Real(),
        "support_": Numbers("int32", ("vectors",), 0),
        "support_vectors_": Numbers("float64", ("vectors", "p")),
        "_n_support": Numbers("int32", ("m",), 0),
        "dual_coef_": Numbers("float64", ("m less 1", "vectors")),
        "intercept_": Numbers("float64", ("pairs",)),
        "_dual_coef_": Numbers("float64", ("m less 1", "vectors")),
        "_intercept_": Numbers("float64", ("pairs",)),
        "_num_iter": Numbers("int32", ("pairs",)),
        "n_iter_": Numbers("int32", ("pairs",)),
        "shape_fit_": Many(Whole(1), 2, kind=tuple),
        "fit_status_": Whole(0, 2),
    }
    # What a machine without probabilities has of them.
    constant: ClassVar[Mapping[str, Any]] = {"_sparse": False, "_effective_probability": False}

    def plain(self, value: Any, scope: Scope) -> Any:
        inner = scope.inner()
        settings = {"kernel": value.kernel, "cost": value.C, "width": value.gamma}
        state = {name: form.plain(getattr(value, name), inner.at(name)) for name, form in self.plain_forms.items()}
        return {**settings, **state}

    def value(self, plain: Any, scope: Scope) -> Any:
        from sklearn.svm import SVC

        parameters: Mapping[str, Codec] = {"kernel": Text(), "cost": Real(), "width": Real()}
        inner = scope.inner()
        fields = fields_of(plain, {**parameters, **self.plain_forms}, inner)
        m = inner.sizes["m"]
        for name, expected in (("m less 1", m - 1), ("pairs", m * (m - 1) // 2)):
            if inner.sizes[name] != expected:
                scope.fail(f"has arrays of {inner.sizes[name]} ({name}) for {m} classes, which need {expected}")
        if fields["_n_support"].sum() != inner.sizes["vectors"] or fields["kernel"] not in ("linear", "rbf"):
            scope.fail("is damaged: _n_support does not add up, or the kernel is unknown")
        kernel, cost, width = (fields.pop(name) for name in parameters)
        machine = SVC(C=cost, kernel=kernel, gamma=width, cache_size=400)
        empty = {"_probA": np.zeros(0), "_probB": np.zeros(0)}
        vars(machine).update(fields, **self.constant, **empty, n_features_in_=inner.sizes["p"])
        # LIBSVM reads the vectors by rows.
        for name in ("support_vectors_", "dual_coef_", "_dual_coef_"):
            setattr(machine, name, np.ascontiguousarray(getattr(machine, name)))
        return machine


class Machines(Codec):
    """What `SupportVectorClassifier` keeps: a scaler or none, and one machine, or one for each class."""

    forms: ClassVar[Mapping[str, Codec]] = {
        "scaler": Maybe(SCALER),
        "one": Maybe(Machine()),
        "each": Maybe(Many(Machine(), "C")),
    }

    def plain(self, value: Any, scope: Scope) -> Any:
        from sklearn.multiclass import OneVsRestClassifier

        scaler, machine = value if hasattr(value, "steps") else (None, value)
        several = isinstance(machine, OneVsRestClassifier)
        fields = {
            "scaler": scaler,
            "one": None if several else machine,
            "each": machine.estimators_ if several else None,
        }
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
            machine.estimators_ = each
            machine.label_binarizer_ = LabelBinarizer(sparse_output=True).fit(classes)
            machine.classes_ = machine.label_binarizer_.classes_
            machine.n_features_in_ = scope.sizes["p"]
        elif not np.array_equal(machine.classes_, classes):
            scope.fail("must have a machine of the model's classes")
        return machine if fields["scaler"] is None else make_pipeline(fields["scaler"], machine)


KINDS.register("support_vectors")(
    Kind(
        classes=("SupportVectorClassifier",),
        state={**CLASSIFIER, "_machine": Maybe(Machines())},
    )
)
