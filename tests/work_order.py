"""In which order the tests begin: those of one server one after another, and the longest first."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

T = TypeVar("T")
# Each takes seconds of CPU to begin, and each worker that needs one begins its own.
SERVERS = frozenset(
    {
        "azure_server",
        "cluster",
        "control_plane",
        "gcs_server",
        "github_server",
        "k8s_node",
        "mlflow_server",
        "nel_program",
        "one_box",
        "ray_head",
        "s3_server",
        "wandb_reader",
        "wandb_server",
    }
)
# Those that a test asks for by the name of its parameter.
AS_PARAMETER = {
    "gs": "gcs_server",
    "on_gs": "gcs_server",
    "on_nel": "nel_program",
    "on_ray": "ray_head",
    "on_s3": "s3_server",
    "on_slurm": "cluster",
    "on_ssh": "one_box",
    "s3": "s3_server",
}
# Those that take longest by the clock: one that begins as the last keeps one worker busy, and the
# others have ended.
LONG_TESTS = frozenset(
    {
        "test_a_command_on_a_run_imports_what_it_uses",
        "test_a_head_that_is_started_again_has_forgotten_and_is_not_believed",
        "test_a_journal_of_many_files_is_read_in_bounded_time",
        "test_a_log_that_is_made_to_hang_it_is_judged_in_time",
        "test_a_lost_node_is_told_whether_it_had_the_command_or_its_workers",
        "test_a_packing_that_is_killed_loses_nothing",
        "test_a_process_that_is_killed_around_a_page_loses_none_and_repeats_only_what_it_must",
        "test_a_remote_that_is_gone_is_named",
        "test_a_run_goes_back_is_sealed_and_forked_and_wandb_shows_what_was_reported",
        "test_a_run_on_a_box_outlives_a_cut_link_and_is_relaunched_after_a_crash",
        "test_a_run_on_object_stores_from_launch_to_seal",
        "test_a_short_week",
        "test_a_stale_page_is_named_and_printed_alike_by_every_process",
        "test_a_store_that_fails_makes_nothing_healthy_and_starts_nothing",
        "test_a_training_environment_gets_the_check_in_and_nothing_else",
        "test_an_interrupted_launch_whose_job_is_forgotten_is_stopped_as_one_that_was_submitted",
        "test_both_are_watched_to_their_end_and_their_lines_do_not_mix",
        "test_each_end_is_reported_as_it_was",
        "test_every_fault_of_a_job_is_reported_once_and_overcome",
        "test_exactly_what_was_printed_is_deleted_and_only_while_all_can_be_read",
        "test_nel_submits_over_ssh_and_its_job_is_followed_on_slurm_and_stopped",
        "test_no_line_takes_a_pattern_long",
        "test_one_over_which_another_herorun_is_installed_starts_again_from_that",
        "test_over_http_nobody_is_answered_without_the_token",
        "test_rare_looks_tell_what_a_backtest_tells",
        "test_text_that_is_made_to_bring_it_down",
        "test_the_cases_that_failed_are_those_that_last_failed",
        "test_the_demo_runs_on_slurm_from_contract_to_seal",
        "test_the_loss_falls_from_that_of_a_guess",
        "test_the_printed_pages_are_fresh",
        "test_the_recipes_work_and_their_tests_pass",
        "test_the_whole_page",
        "test_what_a_tick_asks_of_each_server",
        "test_what_rays_memory_monitor_killed_is_out_of_memory",
    }
)


def is_longest(item: Any) -> bool:
    return item.name.partition("[")[0] in LONG_TESTS


def begins_a_share(item: Any) -> bool:
    """Of the longest, those that need no server: each worker can begin with one."""
    return is_longest(item) and not servers_of(item)


def deal_items(items: Sequence[T], workers: int, begins: Callable[[T], bool]) -> list[T]:
    """The items in the order of the workers' shares, each of which begins with as many of these."""
    first = [item for item in items if begins(item)]
    others = iter([item for item in items if not begins(item)])
    order: list[T] = []
    for worker in range(workers):
        own = first[worker::workers]
        end = len(items) * (worker + 1) // workers
        order += own
        order += [next(others) for _ in range(end - len(order))]
    return order


def servers_of(item: Any) -> list[str]:
    """Tests of one server come one after another, so that they come to one worker, and those of
    none come last.
    """
    names = getattr(item, "fixturenames", ())
    parameters = (
        getattr(getattr(item, "callspec", None), "params", {}) if "request" in names else {}
    )
    by_parameter = [AS_PARAMETER.get(str(value), "") for value in parameters.values()]
    return sorted(SERVERS.intersection([*names, *by_parameter]))
