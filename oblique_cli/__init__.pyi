# Public names and the modules that have them: `__init__.py` reads this list, and loads each name on first use.
from typing import Any

from oblique_cli.estimators.algorithms import ALGORITHMS as ALGORITHMS
from oblique_cli.estimators.algorithms import make as make
from oblique_cli.estimators.conformal import ConformalClassifier as ConformalClassifier
from oblique_cli.estimators.conformal import ConformalRegressor as ConformalRegressor
from oblique_cli.estimators.fitted import export_text as export_text
from oblique_cli.estimators.fitted import plot_tree as plot_tree
from oblique_cli.estimators.forest.bagged import BaggedForestClassifier as BaggedForestClassifier
from oblique_cli.estimators.forest.boosting import ObliqueBoostingClassifier as ObliqueBoostingClassifier
from oblique_cli.estimators.forest.boosting_regression import ObliqueBoostingRegressor as ObliqueBoostingRegressor
from oblique_cli.estimators.forest.heterogeneous import HeterogeneousForestClassifier as HeterogeneousForestClassifier
from oblique_cli.estimators.forest.hhcart import HHCARTForestClassifier as HHCARTForestClassifier
from oblique_cli.estimators.forest.logistic_forest import LogisticForestClassifier as LogisticForestClassifier
from oblique_cli.estimators.forest.mpsvm import MPSVMForestClassifier as MPSVMForestClassifier
from oblique_cli.estimators.forest.refined import TAOForestClassifier as TAOForestClassifier
from oblique_cli.estimators.forest.refined_numbers import TAOForestRegressor as TAOForestRegressor
from oblique_cli.estimators.forest.regression import ObliqueForestRegressor as ObliqueForestRegressor
from oblique_cli.estimators.machines import GEPSVMClassifier as GEPSVMClassifier
from oblique_cli.estimators.machines import SupportVectorClassifier as SupportVectorClassifier
from oblique_cli.estimators.oblique.bottom_up import BottomUpTreeClassifier as BottomUpTreeClassifier
from oblique_cli.estimators.oblique.bottom_up import BUTIFSVMClassifier as BUTIFSVMClassifier
from oblique_cli.estimators.oblique.bottom_up import HHBUTClassifier as HHBUTClassifier
from oblique_cli.estimators.oblique.classifiers import AxisParallelClassifier as AxisParallelClassifier
from oblique_cli.estimators.oblique.classifiers import ClineClassifier as ClineClassifier
from oblique_cli.estimators.oblique.classifiers import FDTClassifier as FDTClassifier
from oblique_cli.estimators.oblique.classifiers import GainRatioClassifier as GainRatioClassifier
from oblique_cli.estimators.oblique.classifiers import GDTClassifier as GDTClassifier
from oblique_cli.estimators.oblique.classifiers import HHCARTClassifier as HHCARTClassifier
from oblique_cli.estimators.oblique.classifiers import HHCARTDClassifier as HHCARTDClassifier
from oblique_cli.estimators.oblique.classifiers import HHCARTGClassifier as HHCARTGClassifier
from oblique_cli.estimators.oblique.classifiers import HHCRVClassifier as HHCRVClassifier
from oblique_cli.estimators.oblique.classifiers import HHGDTClassifier as HHGDTClassifier
from oblique_cli.estimators.oblique.classifiers import LogisticSplitClassifier as LogisticSplitClassifier
from oblique_cli.estimators.oblique.classifiers import OC1APClassifier as OC1APClassifier
from oblique_cli.estimators.oblique.classifiers import OC1Classifier as OC1Classifier
from oblique_cli.estimators.oblique.classifiers import OC1LCClassifier as OC1LCClassifier
from oblique_cli.estimators.oblique.classifiers import QUESTClassifier as QUESTClassifier
from oblique_cli.estimators.oblique.classifiers import SADTClassifier as SADTClassifier
from oblique_cli.estimators.oblique.classifiers import SVMSplitClassifier as SVMSplitClassifier
from oblique_cli.estimators.oblique.classifiers import UnionClassifier as UnionClassifier
from oblique_cli.estimators.oblique.logistic import LogisticTreeClassifier as LogisticTreeClassifier
from oblique_cli.estimators.oblique.refined import TAOClassifier as TAOClassifier
from oblique_cli.estimators.oblique.top_down import ObliqueTreeClassifier as ObliqueTreeClassifier
from oblique_cli.estimators.regression.cart import CARTRegressor as CARTRegressor
from oblique_cli.estimators.regression.linear_leaves import M5StyleRegressor as M5StyleRegressor
from oblique_cli.estimators.regression.linear_leaves import RETISRegressor as RETISRegressor
from oblique_cli.estimators.regression.linear_leaves import TPRTIRegressor as TPRTIRegressor
from oblique_cli.estimators.regression.linear_tree import LinearTreeRegressor as LinearTreeRegressor
from oblique_cli.estimators.regression.oblique_regressor import ObliqueTreeRegressor as ObliqueTreeRegressor
from oblique_cli.estimators.regression.pilot import PILOTRegressor as PILOTRegressor
from oblique_cli.models.explaining.explanation import explain as explain
from oblique_cli.models.explaining.shapley import shap_values as shap_values
from oblique_cli.models.exporting import export as export
from oblique_cli.models.model import Model as Model
from oblique_cli.models.model import load as load
from oblique_cli.models.model import save as save
from oblique_cli.models.verifying.verification import verify as verify
from oblique_cli.papers.discrete.c45_classifiers import C45BaggingClassifier as C45BaggingClassifier
from oblique_cli.papers.discrete.c45_classifiers import C45Classifier as C45Classifier
from oblique_cli.papers.discrete.c45_classifiers import C45ForestClassifier as C45ForestClassifier
from oblique_cli.papers.discrete.fourier_classifiers import (
    AggregatedFourierTreeClassifier as AggregatedFourierTreeClassifier,
)
from oblique_cli.papers.discrete.fourier_classifiers import OrthogonalTreesClassifier as OrthogonalTreesClassifier
from oblique_cli.papers.discrete.fourier_classifiers import (
    ReconstructedFourierTreeClassifier as ReconstructedFourierTreeClassifier,
)
from oblique_cli.papers.hierarchy.editing_classifiers import HCEditClassifier as HCEditClassifier
from oblique_cli.papers.hierarchy.editing_classifiers import MultiEditClassifier as MultiEditClassifier
from oblique_cli.papers.hierarchy.editing_classifiers import (
    SupervisedClusteringEditClassifier as SupervisedClusteringEditClassifier,
)
from oblique_cli.papers.hierarchy.editing_classifiers import WilsonClassifier as WilsonClassifier
from oblique_cli.papers.hierarchy.neighbors import NearestNeighborsClassifier as NearestNeighborsClassifier
from oblique_cli.papers.hierarchy.taxonomy_estimators import AvalancheClustering as AvalancheClustering
from oblique_cli.papers.hierarchy.taxonomy_estimators import SupervisedTaxonomy as SupervisedTaxonomy
from oblique_cli.papers.pathfinder.classifier import PathfinderClassifier as PathfinderClassifier
from oblique_cli.report.model_card import model_card as model_card
from oblique_cli.tree.structure import Tree as Tree

__version__: str

def place_of(name: str) -> str | None: ...

# A heuristic that is added later has a class too.
def __getattr__(name: str) -> Any: ...
def __dir__() -> list[str]: ...
