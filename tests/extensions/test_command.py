"""A command is one module and a line in the table of commands."""

from checkout_support import checkout

__all__ = ["checkout"]

COMMAND = '''
import click


@click.command()
@click.argument("name")
def rows(name: str) -> None:
    """Count the rows of the data set NAME."""
    from oblique_cli import data

    click.echo(data.load(name).n)
'''


def test_a_command_is_a_module_and_a_line(checkout):
    checkout.write("oblique_cli/cli/rows.py", COMMAND)
    checkout.insert(
        "oblique_cli/cli/__init__.py",
        '    "What there is": {',
        '        "rows": ("rows.rows", "Count the rows of a data set."),',
    )
    assert "rows " in checkout.oblique("--help").out
    ended = checkout.oblique("rows", "iris")
    assert (ended.code, ended.out, ended.err) == (0, "150\n", "")
    ended = checkout.oblique("rows", "irris")
    assert ended.code == 2 and ended.err.startswith("error: ") and "Did you mean 'iris'" in ended.err
