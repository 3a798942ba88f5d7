"""Finds the assertions that pin the wording of a message, which `tests/screens` alone pins."""

import ast
import re
from collections.abc import Iterable, Iterator

READS_TEXT = {"any", "all", "search", "match", "fullmatch", "findall", "startswith"}
Expectation = ast.JoinedStr | ast.Constant | ast.Name


def triples(text: str) -> set[tuple[str, ...]]:
    """Each three words that follow each other with nothing between them."""
    parts = [part.lower().split() for part in re.split(r"[^a-zA-Z' -]+", text)]
    return {tuple(part[at : at + 3]) for part in parts for at in range(len(part) - 2)}


def nodes_of(tree: ast.AST) -> list[ast.AST]:
    """What `ast.walk` gives, in half of its time."""
    nodes = [tree]
    for node in nodes:
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, ast.AST):
                nodes.append(value)
            elif isinstance(value, list):
                nodes += [each for each in value if isinstance(each, ast.AST)]
    return nodes


def strings(tree: ast.AST) -> Iterator[str]:
    """The strings that are no docstring; the parts of one f-string are one."""
    if isinstance(tree, ast.Constant):
        if isinstance(tree.value, str):
            yield tree.value
        return
    nodes = nodes_of(tree)
    apart = {id(node.value) for node in nodes if isinstance(node, ast.Expr)}
    for node in nodes:
        if isinstance(node, ast.JoinedStr):
            apart |= {id(part) for part in nodes_of(node)}
            yield "".join(str(p.value) if isinstance(p, ast.Constant) else "_" for p in node.values)
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in apart:
            yield node.value


def pinned_in(tree: ast.AST, messages: set[tuple[str, ...]]) -> list[str]:
    """The expected texts that share three words in a row with a message, and not with what the
    tests themselves put in and get back.
    """
    expectation = list(expected_in(tree))
    shared_triples = [
        (text, triples(text) & messages) for part in expectation for text in strings(part)
    ]
    if not any(words for _, words in shared_triples):
        return []  # in most files, so that what they put in need not be looked at
    inputs = given_in(tree, expectation)
    return [text for text, words in shared_triples if words - inputs]


def given_in(tree: ast.AST, expectation: list[ast.AST]) -> set[tuple[str, ...]]:
    apart = {id(node) for part in expectation for node in nodes_of(part)}
    inputs = (node for node in nodes_of(tree) if id(node) not in apart)
    texts = (n.value for n in inputs if isinstance(n, ast.Constant) and isinstance(n.value, str))
    return all_triples(texts)


def expected_in(tree: ast.AST) -> Iterator[ast.AST]:
    """What tests compare with: in assertions, in `match=`, and in the columns of their tables."""
    for node in nodes_of(tree):
        if isinstance(node, ast.Assert):
            yield from expectations(node.test, is_measured=False)
        elif isinstance(node, ast.keyword) and node.arg == "match":
            yield node.value
        elif isinstance(node, ast.FunctionDef):
            for table in node.decorator_list:
                yield from expected_columns(table, node)


def expectations(node: ast.AST, is_measured: bool) -> Iterator[Expectation]:
    """The literals and names of an assertion, without what is only put into the measured code:
    the arguments and the keys on the measured side.
    """
    if isinstance(node, ast.Compare):
        yield from compared_values(node)
    elif (isinstance(node, ast.Name) and not is_measured) or isinstance(
        node, ast.JoinedStr | ast.Constant
    ):
        yield node
    else:
        for part in parts_of(node, is_measured):
            yield from expectations(part, is_measured)


def compared_values(node: ast.Compare) -> Iterator[Expectation]:
    """`measured == expected`, `expected in measured`; what comes back as it went in is neither."""
    sides = [node.left, *node.comparators]
    if isinstance(node.ops[0], ast.In | ast.NotIn):
        sides.reverse()
    inputs = {each.id for each in nodes_of(sides[0]) if isinstance(each, ast.Name)}
    yield from expectations(sides[0], is_measured=True)
    for side in sides[1:]:
        literals = expectations(side, is_measured=False)
        yield from (each for each in literals if getattr(each, "id", "") not in inputs)


def parts_of(node: ast.AST, is_measured: bool) -> Iterable[ast.AST]:
    if isinstance(node, ast.Call):
        name = name_of(node.func)
        if name in ("mentions", "isinstance"):  # their first argument is what is measured
            return node.args[1:]
        return ast.iter_child_nodes(node) if name in READS_TEXT or not is_measured else [node.func]
    if is_measured and isinstance(node, ast.Subscript):
        return [node.value]
    return ast.iter_child_nodes(node)


def expected_columns(decorator: ast.expr, function: ast.FunctionDef) -> Iterator[ast.AST]:
    """The cells of a table of parameters that the function compares something with."""
    if not (isinstance(decorator, ast.Call) and name_of(decorator.func) == "parametrize"):
        return
    names, rows = parameter_names(decorator.args[0]), decorator.args[1]
    compared_columns = compared_names(function)
    for row in rows.elts if isinstance(rows, ast.List | ast.Tuple) else []:
        cells = row.args if isinstance(row, ast.Call) and name_of(row.func) == "param" else [row]
        if len(names) > 1 and len(cells) == 1:
            cells = cells[0].elts if isinstance(cells[0], ast.Tuple | ast.List) else cells
        if len(cells) != len(names):
            yield row
        else:
            yield from (
                cell for name, cell in zip(names, cells, strict=True) if name in compared_columns
            )


def parameter_names(node: ast.expr) -> list[str]:
    if isinstance(node, ast.Constant):
        return [name.strip() for name in str(node.value).split(",")]
    return [str(each.value) for each in nodes_of(node) if isinstance(each, ast.Constant)]


def compared_names(function: ast.FunctionDef) -> set[str]:
    """The parameters that stand in an expectation, or where they may become one: in an assignment
    or a loop outside of a call, or as an argument of a helper that itself asserts.
    """
    body = ast.Module(function.body, [])
    parts: list[ast.AST] = [*expected_in(body)]
    for node in nodes_of(body):
        if isinstance(node, ast.For):
            parts.append(node.iter)
        elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign) and node.value:
            parts += names_outside_calls(node.value)
    parts += [statement for statement in function.body if is_helper(statement)]
    return {node.id for part in parts for node in nodes_of(part) if isinstance(node, ast.Name)}


def names_outside_calls(node: ast.AST) -> Iterator[ast.Name]:
    if isinstance(node, ast.Name):
        yield node
    parts = [node.func] if isinstance(node, ast.Call) else ast.iter_child_nodes(node)
    for part in parts:
        yield from names_outside_calls(part)


def is_helper(statement: ast.stmt) -> bool:
    """A function of the tests, of which nothing is kept."""
    return (
        isinstance(statement, ast.Expr)
        and isinstance(statement.value, ast.Call)
        and isinstance(statement.value.func, ast.Name)
    )


def name_of(function: ast.expr) -> str:
    """Its last name: to unparse all calls of the tests takes seconds."""
    return getattr(function, "attr", getattr(function, "id", ""))


def all_triples(texts: Iterable[str]) -> set[tuple[str, ...]]:
    return {triple for text in texts for triple in triples(text)}
