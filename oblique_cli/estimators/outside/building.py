"""Construction of a model for class codes from the name of its class; runs in the separate process (`child`)."""

from __future__ import annotations

import difflib
import inspect
import random
from collections.abc import Mapping
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.metaestimators import available_if

from oblique_cli.errors import ConfigError
from oblique_cli.estimators.outside.known import CLASSES, LIBRARIES, library_of, near, nested_class
from oblique_cli.estimators.outside.sizes import sizes_of

SEEDS = ("random_state", "seed", "random_seed")
SIZE_NAMES = ("n_leaves_", "n_nodes_", "depth_", "n_terms_")  # attributes of `Sizes`
# Workers run side by side, and the number of threads can change the last bits of a sum.
THREADS = ("n_jobs", "num_threads", "nthread", "thread_count")


def load_class(path: str) -> Any:
    """Return the class of a dotted path; ConfigError if it cannot be imported or is not an estimator."""
    module, _, name = path.rpartition(".")
    library = library_of(path)
    if library == "weka" and path in CLASSES:
        from oblique_cli.estimators.outside.weka_classifier import class_of

        return class_of(path)
    try:
        home = import_module(module)
    except ModuleNotFoundError as error:
        if error.name != library:
            raise ConfigError(f"class {path}: there is no module {error.name!r}.{near(path)}") from None
        install = LIBRARIES.get(library, library)
        raise ConfigError(f"class {path}: {library} is not installed; pip install {install}") from None
    except Exception as error:  # incompatible libraries, or an error in the user's file
        raise ConfigError(f"class {path}: {module} cannot be imported ({type(error).__name__}: {error})") from None
    if not hasattr(home, name):
        classes = [word for word in dir(home) if inspect.isclass(getattr(home, word, None)) and word[0] != "_"]
        close = difflib.get_close_matches(name, classes, n=2, cutoff=0.5)
        hint = f" Did you mean {' or '.join(f'{module}.{word}' for word in close)}?" if close else near(path)
        raise ConfigError(f"class {path}: {module} has no {name}.{hint}")
    cls = getattr(home, name)
    if not inspect.isclass(cls) or not (is_ydf(cls) or (hasattr(cls, "fit") and hasattr(cls, "predict"))):
        raise ConfigError(f"class {path} is no estimator: it is no class with the methods fit and predict.")
    return cls


def is_ydf(cls: Any) -> bool:
    """Return whether a class is a learner of YDF, whose interface differs."""
    return str(getattr(cls, "__module__", "")).startswith("ydf.") and hasattr(cls, "train")


def parameters(cls: Any) -> tuple[dict[str, Any], bool]:
    """Return the parameters of a class with their defaults, and whether it accepts others as well."""
    signature = inspect.signature(cls)
    kinds = inspect.Parameter
    defaults = {
        name: parameter.default
        for name, parameter in signature.parameters.items()
        if parameter.kind in (kinds.POSITIONAL_OR_KEYWORD, kinds.KEYWORD_ONLY)
    }
    further = any(parameter.kind == kinds.VAR_KEYWORD for parameter in signature.parameters.values())
    if further and hasattr(cls, "get_params"):
        known = cls().get_params(deep=False)
        # LightGBM forwards further names; XGBoost lists all its parameters.
        further = library_of(cls.__module__) != "xgboost"
        defaults = {**known, **defaults}
    return defaults, further


def check(path: str, params: Mapping[str, Any]) -> None:
    """Raise ConfigError for an unusable class, or for the first unknown parameter."""
    cls = load_class(path)
    defaults, further = parameters(cls)
    for name, value in params.items():
        if nested := nested_class(value):
            check(nested, value.get("params") or {})
        if name in defaults:
            continue
        close = difflib.get_close_matches(name, sorted(defaults), n=3, cutoff=0.9 if further else 0.5)
        if close or not further:
            hint = (
                f" Did you mean {' or '.join(map(repr, close))}?"
                if close
                else f" It has: {', '.join(sorted(defaults))}."
            )
            raise ConfigError(f"{path} has no parameter {name!r}.{hint}")
    needed = [name for name, default in defaults.items() if default is inspect.Parameter.empty and name not in params]
    if needed and not is_ydf(cls):
        raise ConfigError(f"{path} needs the parameter {needed[0]!r}; set it under params.")


def build(path: str, params: Mapping[str, Any], seed: int | None) -> Any:
    """Return an unfitted estimator of a checked class, with the seed and one thread unless `params` set them."""
    cls = load_class(path)
    defaults, _ = parameters(cls)
    arguments = {
        name: build(nested, value.get("params") or {}, seed) if (nested := nested_class(value)) else value
        for name, value in params.items()
    }
    for names, value in ((SEEDS, seed), (THREADS, 1)):
        if value is not None and not any(name in arguments for name in names):
            arguments |= dict.fromkeys([name for name in names if name in defaults][:1], value)
    if is_ydf(cls):
        from oblique_cli.estimators.outside.ydf_learner import YdfClassifier

        return YdfClassifier(cls, arguments)
    if library_of(path) == "catboost":  # otherwise it writes logs in the current folder
        arguments["allow_writing_files"] = False
    return cls(**arguments)


def squares(X: np.ndarray) -> Any:
    """Return a transformer to standardized columns, and standardized squares of those of more than two values in X."""
    from sklearn.compose import ColumnTransformer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import FunctionTransformer, StandardScaler

    bent = [j for j in range(X.shape[1]) if len(np.unique(X[:, j])) > 2]
    squared = make_pipeline(FunctionTransformer(np.square), StandardScaler())
    both = ColumnTransformer([("lines", "passthrough", slice(0, X.shape[1])), ("bends", squared, bent)])
    return make_pipeline(StandardScaler(), both)


class Model:
    """An estimator between class codes of a data set and what other libraries expect.

    Several libraries want labels 0 to k - 1 without gaps; the training rows of a fold may lack a class. Labels are
    therefore numbered for every fit, and predictions are converted back."""

    def __init__(self, path: str, params: Mapping[str, Any], prepare: str, regression: bool, seed: int | None) -> None:
        self._path, self._params, self._prepare = path, dict(params), prepare
        self._regression, self._seed = regression, seed

    def fit(self, X: np.ndarray, y: np.ndarray) -> None:
        """Fit to rows (n, p) and class codes or numbers (n,)."""
        self._scaler = None
        if self._prepare:
            from sklearn import preprocessing

            names = {"standardize": "StandardScaler", "minmax": "MinMaxScaler", "robust": "RobustScaler"}
            self._scaler = squares(X) if self._prepare == "squares" else getattr(preprocessing, names[self._prepare])()
            X = self._scaler.fit_transform(X)
        if not self._regression:
            self.classes_, y = np.unique(y, return_inverse=True)
            weights = self._params.get("class_weight")
            if isinstance(weights, Mapping):  # by the data set's class codes; labels not in the training rows have none
                place = {int(code): k for k, code in enumerate(self.classes_)}
                known = {int(code): weight for code, weight in weights.items()}
                self._params["class_weight"] = {place[c]: w for c, w in known.items() if c in place}
        self.estimator = build(self._path, self._params, self._seed)
        if self._seed is not None:  # for classes without a seed parameter, which draw from the process' global state
            random.seed(self._seed)
            np.random.seed(self._seed % 2**32)
        self.estimator.fit(np.ascontiguousarray(X), y.astype(np.float64 if self._regression else np.int64))

    def predict(self, X: np.ndarray) -> np.ndarray:
        """Return class codes or numbers (n,). ValueError for predictions of another shape, or for unknown labels."""
        predicted = np.asarray(self.estimator.predict(self._scaled(X)))
        predicted = predicted.ravel() if predicted.size == len(X) else predicted
        if predicted.shape != (len(X),):
            raise ValueError(f"{self._path} predicts an array of shape {predicted.shape} for {len(X)} rows")
        if self._regression:
            return predicted.astype(np.float64)
        codes = predicted.astype(np.int64)
        if (codes != predicted).any() or (codes < 0).any() or (codes >= len(self.classes_)).any():
            raise ValueError(f"{self._path} predicts labels that it was not given")
        return np.asarray(self.classes_[codes], dtype=np.int32)

    @available_if(  # type: ignore[untyped-decorator]
        lambda model: not model._regression and hasattr(model.estimator, "predict_proba")
    )
    def predict_proba(self, X: np.ndarray) -> np.ndarray:
        """Return the class shares (n, k), columns as in `classes_`."""
        shares = np.asarray(self.estimator.predict_proba(self._scaled(X)))
        whole = shares.astype(np.float64)
        if shares.dtype != np.float64:  # rounded to fewer digits, so that row sums are only close to 1
            totals = whole.sum(axis=1, keepdims=True)
            whole = np.divide(whole, totals, out=whole, where=np.abs(totals - 1) < 1e-3)
        return whole

    def __getattr__(self, name: str) -> Any:
        # Sizes are read after the fit is timed.
        if name in SIZE_NAMES and "estimator" in self.__dict__:
            self.__dict__ |= dict(zip(SIZE_NAMES, sizes_of(self.estimator), strict=True))
            return self.__dict__[name]
        raise AttributeError(name)

    def _scaled(self, X: np.ndarray) -> np.ndarray:
        return X if self._scaler is None else np.ascontiguousarray(self._scaler.transform(X))
