"""A git setting hides existing changes from `git status`.

Why: git then says "clean" while herorun, which ignores these settings, reports changes, and people
trust the wrong one.
Fix: unset it (`git config --show-origin --get KEY` shows where it is set), and repeat `git status`.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Submodule, WorkTree
from herorun.core.finding import Verdict, failed, few, passed


@check(Gate.LAUNCH, Response.WARN)
def hiding_settings(tree: WorkTree) -> list[Verdict]:
    """One verdict for each setting that hides something now, and one that lists the rest."""
    hiding = {
        setting: paths for setting in tree.settings if (paths := _hidden_paths(setting, tree))
    }
    harmless = [setting for setting in tree.settings if setting not in hiding]
    answers = [
        failed(
            f"`git status` does not show {few(paths)} while {setting}",
            *paths,
            subject=setting.partition("=")[0],
        )
        for setting, paths in hiding.items()
    ]
    if harmless:
        answers.append(passed(f"these settings hide nothing here: {few(harmless)}", *harmless))
    return answers or [passed("no git setting hides changes")]


def _hidden_paths(setting: str, tree: WorkTree) -> tuple[str, ...]:
    """The changed paths of the kind that the setting hides."""
    match setting.partition("=")[0]:
        case "status.showUntrackedFiles":
            return tree.untracked
        case "core.fileMode":
            return tuple(path for path in tree.mode_only if path in tree.unstaged)
        case "core.ignoreStat":
            return tree.hidden
        case "diff.ignoreSubmodules":
            return tuple(s.path for s in tree.submodules if _differs(s))
        case key if key.startswith("submodule."):
            return tuple(
                s.path
                for s in tree.submodules
                if _differs(s) and key == f"submodule.{s.path}.ignore"
            )
    return ()


def _differs(submodule: Submodule) -> bool:
    other_commit = submodule.checked_out not in (None, submodule.commit)
    return other_commit or submodule.modified or submodule.untracked
