"""The command's script has `#SBATCH` lines, which herorun's own batch script leaves out.

Why: Slurm reads them only of the script that is submitted: the job would get the defaults, such as
1 node and no GPU, and waste money or start wrongly.
Fix: state each in `[scheduler]`, by its key or in `arguments`, or delete the line.
"""

from herorun.core.check import Gate, Response, check
from herorun.core.evidence import IgnoredDirectives
from herorun.core.finding import Verdict, failed, few, passed


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
    if not left_out:
        return [passed(f"the request leaves out no directive of {few(sorted(directives.scripts))}")]
    return [
        failed(f"the request leaves out {few(lines)}", *lines, subject=script)
        for script, lines in left_out.items()
    ]
