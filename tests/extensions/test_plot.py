"""A plot of stored runs is one function and its name on the command line."""

import pytest

PLOT = '''

@KINDS.register("sizes")
def sizes(material: Material, request: Request) -> Plot:
    """Draw how many leaves the trees of all folds have."""
    groups = []
    for method in material.methods:
        leaves = [float(row.n_leaves) for name in material.datasets for row in method.rows(name)]
        groups.append(Group(method.label, leaves, method.code))
    figure = charts.boxes([Panel("all folds", groups)], Axis("leaves"), request.width)
    return Plot(figure, f"Leaves of the trees of {len(groups)} algorithms.")
'''
CONFIG = "version: 1\ndataset: iris\nalgorithms: [fdt, gdt]\ncv: {folds: 3, repeats: 1}\n"


@pytest.mark.long
def test_a_plot_is_a_function_and_its_name(checkout):
    checkout.insert("oblique_cli/report/fold_plots.py", "", PLOT)
    kinds = next(
        line
        for line in (checkout.folder / "oblique_cli/cli/plot.py").read_text().splitlines()
        if line.startswith("KINDS = (")
    )
    checkout.insert("oblique_cli/cli/plot.py", kinds, 'KINDS = (*KINDS, "sizes")')
    checkout.write("my.yaml", CONFIG)
    assert checkout.oblique("run", "my.yaml", "--quiet").code == 0
    ended = checkout.oblique("plot", "sizes", "my", "--output", "sizes.svg")
    assert (ended.code, ended.out, ended.err) == (0, "Leaves of the trees of 2 algorithms.\n", "")
    assert b"<svg" in (checkout.folder / "sizes.svg").read_bytes()
    assert "'sizes'" in checkout.oblique("plot", "size", "my").err
