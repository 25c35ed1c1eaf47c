"""The command `inspect`: what a model knows."""

import argparse
from typing import Any

from neuralkdb.cli.arguments import Commands, add_command, natural, pair, positive

EXAMPLES = """\
  neuralkdb inspect adult.nkdb
  neuralkdb inspect adult.nkdb --similar workclass=Private
  neuralkdb inspect adult.nkdb --explain new.csv --row 0
"""


def add_to(commands: Commands) -> None:
    """The command and its options."""
    command = add_command(
        commands,
        "inspect",
        "show what a model knows",
        "Show the structure of a model: what each feature depends on besides the class, and how strongly, in nats. "
        "With --similar: values that occur in the same contexts. With --explain: what each feature of a row says.",
        EXAMPLES,
    )
    add = command.add_argument
    add("model", metavar="MODEL", help="a file that fit wrote")
    add("--top", type=positive, default=15, metavar="N", help="how many dependencies or values to list (15)")
    add("--similar", type=pair, metavar="FEATURE=VALUE", help="values of a feature that are like this one")
    add("--explain", metavar="TABLE", help="a table with rows to explain")
    add("--row", type=natural, default=0, metavar="N", help="which row, from 0 (0)")
    command.set_defaults(command=inspect)


def inspect(options: argparse.Namespace) -> int:
    """Print what was asked for."""
    import neuralkdb

    model = neuralkdb.load(options.model)
    if options.similar:
        feature, value = options.similar
        print(_similar(model, feature, value, options.top))
    elif options.explain:
        print(_explained(model, options.explain, options.row, options.top))
    else:
        print(_described(model, options.top))
    return 0


def _described(model: Any, top: int) -> str:
    from neuralkdb.cli.tables import aligned
    from neuralkdb.dependencies import dependencies

    found = dependencies(model)
    arcs = [each for each in found if each.parent is not None][:top]
    features = [each for each in found if each.parent is None][:top]
    parts = [_heading(model)]
    if features:
        rows = [(each.child, f"{each.information:.4f}") for each in features]
        parts.append("what each feature says about the class, in nats:\n" + _indented(aligned(rows, numeric=(1,))))
    if arcs:
        pairs = [(each.child, "<-", str(each.parent), f"{each.information:.4f}") for each in arcs]
        title = "the strongest dependencies between features where the class is known, in nats:"
        parts.append(f"{title}\n{_indented(aligned(pairs, numeric=(3,)))}")
    parts.append(_structure(model))
    return "\n\n".join(parts)


def _heading(model: Any) -> str:
    changed = {
        name: value for name, value in model.get_params().items() if value != type(model)().get_params().get(name)
    }
    settings = ", ".join(f"{name}={value!r}" for name, value in changed.items())
    target = f" of {model.target_name_}" if hasattr(model, "target_name_") else ""
    classes = ", ".join(map(str, model.classes_[:12])) + (", ..." if len(model.classes_) > 12 else "")
    members = f"\n{len(model.members_)} members, weighted" if len(model.members_) > 1 else ""
    return (
        f"{type(model).__name__}({settings})\n"
        f"{model.n_features_in_} features, {len(model.classes_)} classes{target}: {classes}{members}"
    )


def _structure(model: Any) -> str:
    """The parents of each feature, of a single network or of the first of several."""
    structure, title = model.structure_, "parents of each feature, besides the class:"
    if isinstance(structure, tuple):
        title = f"parents of each feature in the first of {len(structure)} networks, besides the class:"
    while isinstance(structure, tuple):
        structure = structure[0]
    networks = {"": structure}
    if any(isinstance(parents, dict) for parents in structure.values()):
        title = "parents of each feature, a network for each class:"
        networks = {f"{label}: ": network for label, network in structure.items()}
    lines = [
        f"{head}{child} <- {', '.join(parents) or '(only the class)'}"
        for head, network in networks.items()
        for child, parents in network.items()
    ]
    left_out = [name for name in model._names if all(name not in network for network in networks.values())]
    lines += [f"left out, as they do not help: {', '.join(left_out)}"] if left_out else []
    return f"{title}\n{_indented(chr(10).join(lines))}"


def _indented(text: str) -> str:
    return "\n".join(f"  {line}" for line in text.splitlines())


def _similar(model: Any, feature: str, value: str, top: int) -> str:
    from neuralkdb.cli.tables import aligned
    from neuralkdb.similarity import similar_values

    found = similar_values(model, feature, value, top)
    title = f"values of {feature} that occur in the contexts of {value} (1: the same ones, -1: the opposite):"
    return f"{title}\n{_indented(aligned([(label, f'{alike:+.3f}') for label, alike in found], numeric=(1,)))}"


def _explained(model: Any, path: str, row: int, top: int) -> str:
    from neuralkdb.cli.tables import aligned, row_of

    X = row_of(model, path, row)
    probabilities = model.predict_proba(X)[0]
    label = model.classes_[probabilities.argmax()]
    terms = model.explain(X).strongest(0, label, top)
    values = {name: X[name].iloc[0] for name in X.columns}
    rows = [(name, _value(values.get(name)), f"{nats:+.3f}") for name, nats in terms]
    listed = ", ".join(f"{label} {share:.3f}" for label, share in zip(model.classes_, probabilities, strict=True))
    return (
        f"row {row}: {label}, with the probabilities {listed}\n"
        f"what speaks for {label} (+) and against it (-), in log-odds:\n{_indented(aligned(rows, numeric=(2,)))}"
    )


def _value(value: Any) -> str:
    if value is None:
        return ""
    return "missing" if value != value else f"{value:.6g}" if isinstance(value, float) else str(value)
