"""The command's script has `#SBATCH` lines, which herorun's own batch script leaves out.

Why: Slurm reads them only in the script that is submitted, which is herorun's: the job would get
the defaults, such as 1 node and no GPU, and waste money or start wrongly.
Fix: state each in `[scheduler]`, by its key or in `arguments`, or delete the line.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import IgnoredDirectives
from herorun.core.finding import Verdict, failed, few, passed, unknown


@check(Gate.LAUNCH, Response.WARN)
def ignored_directives(directives: IgnoredDirectives) -> list[Verdict]:
    """One verdict for each script with such lines; an option that the request states counts as
    stated, with whatever value.
    """
    left_out = {
        script: [f"{each.text} ({script}:{each.line})" for each in lines]
        for script, lines in sorted(directives.scripts.items())
        if lines
    }
    answers = [
        failed(f"the request leaves out {few(lines)}", *lines, subject=script)
        for script, lines in left_out.items()
    ]
    if directives.scripts and not left_out:
        scripts = few(sorted(directives.scripts))
        answers = [passed(f"the request leaves out no directive of {scripts}")]
    return answers + [
        unknown(f"{path} was not read: {why}", why, subject=path)
        for path, why in sorted(directives.unread_paths.items())
    ]
