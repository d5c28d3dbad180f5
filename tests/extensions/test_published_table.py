"""A published table is a CSV file and a line in the list of tables."""

TABLE = """source,table,dataset,method,protocol,metric,mean,sd,note
manwani2012,X,Bupa Liver Disorder,HHGDT,10 x 10-fold CV,accuracy_percent,70.0,1.5,
"""


def test_a_published_table_is_a_file_and_a_line(checkout):
    checkout.write("oblique_cli/papers/published/gdt_table_x.csv", TABLE)
    line = "manwani2012,X,gdt_table_x.csv,repetitions,A table of one line"
    checkout.insert("oblique_cli/papers/published/tables.csv", "", line)
    assert "manwani2012:X" in checkout.oblique("list", "published").out
    ended = checkout.oblique("run", "bupa_hhgdt", "--set", "published=['manwani2012:X']", "--quiet")
    assert (ended.code, ended.err) == (0, "")
    assert "70.0 ± 1.5" in ended.out and "A table of one line" in ended.out
