"""Properties of fitted models, proved for all rows or refuted by one."""

from oblique_cli.models.verifying.verification import Counterexample, Verdict, Verification, verify

__all__ = ["Counterexample", "Verdict", "Verification", "verify"]
