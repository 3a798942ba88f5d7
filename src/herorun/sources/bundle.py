"""The source bundle, compared file by file with the commit."""

from herorun.core.contract import Contract, ContractFile
from herorun.core.errors import CouldNotLook
from herorun.core.evidence import Bundle, BundleContent, Nothing, Unavailable
from herorun.core.lazy_regex import lazy_regex
from herorun.core.plan import Plan
from herorun.core.ports import Store
from herorun.system.archives import Listed, archive_files, files_digest, without_folder
from herorun.system.git import Repository

ARCHIVING = 600.0  # seconds; a partial clone fetches what it lacks
_TREE = lazy_regex(r"tree:(sha256:[0-9a-f]{64})")
_ARCHIVE = (".tar", ".tar.gz", ".tgz", ".zip")


def read_bundle_content(
    contract: Contract, repository: Repository, store: Store, file: ContractFile
) -> BundleContent | Nothing:
    """`tree:sha256:<digest>`, or the path or URL of an archive; a relative path is relative to the
    repository's top.

    The contract's own file is left out: it names the bundle's digest, so no bundle could contain
    it.
    """
    name = contract.runtime.bundle
    if name is None:
        return Nothing("the contract names no source bundle")
    if match := _TREE.fullmatch(name):
        return BundleContent(name, match[1])
    if not name.endswith(_ARCHIVE):
        return BundleContent(name)
    path = name if "://" in name or name.startswith("/") else str(repository.top / name)
    head = repository.resolve("HEAD") or ""
    files = archive_files(store.read(path), _algorithm(head))
    files = without_folder(files, [row[2] for row in repository.entries(head)])
    files.pop(file.path, None)
    return BundleContent(name, files_digest(files), files)


def read_bundle(
    content: BundleContent, plan: Plan | Unavailable, repository: Repository, file: ContractFile
) -> Bundle | Nothing:
    """Compares the bundle with the plan: its present content with the planned one, and each file
    with the commit's.
    """
    from herorun.system.git.submodules import all_entries

    if isinstance(plan, Unavailable):
        raise CouldNotLook(plan.why, root=plan.root)
    admitted_name, tree = str(plan.bundle.value or ""), plan.code_tree.value
    if content.files is None:
        return Bundle(
            name=content.name,
            commit=plan.code_commit,
            tree=tree,
            identity=content.identity,
            admitted=admitted_name,
        )
    rows = {path: (mode, oid) for mode, oid, path in all_entries(repository, plan.code_commit)}
    rows.pop(file.path, None)
    code_files = dict(content.files)
    wrong = {
        path
        for path in rows.keys() | code_files.keys()
        if not _is_same_file(code_files.get(path), rows.get(path))
    }
    if wrong:  # by attributes, `git archive` may omit or change files
        archived_files = _list_archived_files(repository, plan.code_commit)
        own = {path for _, _, path in repository.entries(plan.code_commit)}
        wrong -= {
            path
            for path in wrong
            if path in archived_files and _is_same_file(code_files.get(path), archived_files[path])
        }
        wrong -= {
            path for path in wrong - code_files.keys() if path not in archived_files and path in own
        }
    return Bundle(
        name=content.name,
        commit=plan.code_commit,
        tree=tree,
        identity=content.identity,
        admitted=admitted_name,
        compared=len(rows),
        extra=tuple(sorted(path for path in wrong if path not in rows)),
        missing=tuple(sorted(path for path in wrong if path not in code_files)),
        changed=tuple(sorted(path for path in wrong if path in rows and path in code_files)),
    )


def _algorithm(commit: str) -> str:
    return "sha256" if len(commit) == 64 else "sha1"


def _is_same_file(one: tuple[str, str] | None, other: tuple[str, str] | None) -> bool:
    """Whether the files are equal. A zip may have no modes."""
    if one is None or other is None:
        return one is other
    return one[1] == other[1] and (one[0] == other[0] or "" in (one[0], other[0]))


def _list_archived_files(repository: Repository, commit: str) -> Listed:
    answer = repository.git("archive", "--format=tar", commit, timeout=ARCHIVING)
    return archive_files(answer.out, _algorithm(commit))
