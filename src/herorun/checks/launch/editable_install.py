"""The command's Python imports from your checkout, not from the exported copy of the commit.

Why: an editable install, a PYTHONPATH or a script's full path that leads to the checkout runs
whatever is there at that time, reviewed or not. Check-in refuses such a job.
Fix: name the script relative to `[command] cwd`; `pip uninstall` the editable install and put the
package's folder, relative to the tree, on PYTHONPATH: `[command] env = { PYTHONPATH = "src" }`;
or set `[code] in_place = true` and run from the checkout.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import Installed
from herorun.core.finding import Verdict, failed, not_applicable, passed
from herorun.core.plan import Plan


@check(Gate.LAUNCH, Response.WARN)
def editable_install(packages: Installed, plan: Plan) -> list[Verdict]:
    """One verdict for each install, each folder and each word of the command."""
    if plan.in_place.value:
        return [not_applicable("the job runs in the checkout itself ([code] in_place)")]
    wrong = [
        failed(
            f"{packages.interpreter} has {name} as an editable install from {folder}", subject=name
        )
        for name, folder in sorted(packages.editable.items())
        if _is_in_checkout(folder, packages)
    ]
    wrong += [
        failed(f"{path} is on the module path of {packages.interpreter}", subject=path)
        for path in packages.paths
        if not any(path == f or path.startswith(f"{f}/") for f in packages.editable.values())
    ]
    wrong += [
        failed(
            f"the command runs {word} from the checkout, not from the exported copy", subject=word
        )
        for word in dict.fromkeys((*plan.argv.value[1:], *plan.resume_argv.value[1:]))
        if word.endswith((".py", ".sh")) and _is_in_checkout(word, packages)
    ]
    return wrong or [
        passed(f"{packages.interpreter} imports no installed package from this checkout")
    ]


def _is_in_checkout(folder: str, packages: Installed) -> bool:
    top = packages.checkout.rstrip("/")
    return bool(top) and (folder == top or folder.startswith(f"{top}/"))
