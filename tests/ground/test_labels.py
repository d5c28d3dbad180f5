"""The order of labels."""

from oblique_cli.ground.labels import label_order


def test_labels_sort_by_number_then_by_text():
    labels = ["b", "10", "2", "1.0", "a", "-3", "1e1", "nan", "1_0", "٣"]
    assert sorted(labels, key=label_order) == ["-3", "1.0", "2", "10", "1e1", "1_0", "a", "b", "nan", "٣"]
