"""What a person on call relies on, sentence by sentence, and the test that holds each.

A row falls out of this table only together with its sentence: a test that was renamed or deleted is
missed here.
"""

from pathlib import Path

TESTS = Path(__file__).parents[2]
SENTENCES = [  # the kind of job, the sentence, the test's file and name
    (
        "ssh",
        "a dead job is down while its chain waits for its words",
        "core/patrol/test_table.py",
        "test_a_dead_job_and_its_waiting_chain_are_two_facts",
    ),
    (
        "ssh",
        "each row of the decision table",
        "core/patrol/test_decisions.py",
        "test_each_combination",
    ),
    (
        "ssh",
        "no row of the decision table is dead",
        "core/patrol/test_decisions.py",
        "test_every_row_is_reached",
    ),
    (
        "ssh",
        "what is trained is not trained again when a stage of its chain fails",
        "core/patrol/test_table.py",
        "test_after_the_training_only_what_is_left_of_the_chain_is_proposed",
    ),
    (
        "iris",
        "the state file alone is enough to take over",
        "operations/jobs/test_takeover.py",
        "test_a_state_file_alone_is_enough_to_take_over_and_nothing_is_launched_twice",
    ),
    (
        "slurm",
        "before a submission the queue is asked for a job of the same name and user",
        "operations/jobs/test_jobs_on_slurm.py",
        "test_a_live_job_of_the_same_name_and_user_is_not_joined_by_another",
    ),
    (
        "nel",
        "before a submission the list is asked for an invocation of the same configuration",
        "schedulers/external/test_real_nel.py",
        "test_an_invocation_is_looked_at_by_its_id_and_its_scores_are_read",
    ),
    (
        "iris",
        "a look without the resubmit command leaves it",
        "operations/jobs/test_takeover.py",
        "test_a_look_without_the_command_leaves_it",
    ),
    (
        "iris",
        "a secret of the command is stored by its name",
        "operations/jobs/test_takeover.py",
        "test_a_secret_is_stored_by_its_name_and_looked_up_when_the_command_runs",
    ),
    (
        "iris",
        "a command without its secret is refused",
        "operations/jobs/test_takeover.py",
        "test_a_command_that_was_stored_without_its_secret_is_refused",
    ),
    (
        "iris",
        "a shell reads only what was written for one",
        "core/adhoc_jobs/test_stored_command.py",
        "test_a_shell_reads_only_what_was_written_for_one",
    ),
    (
        "iris",
        "tasks that ended for memory are not submitted again with as much",
        "operations/jobs/test_memory_ends.py",
        "test_thirteen_of_fourteen_near_the_limit_are_an_end_for_memory",
    ),
    (
        "slurm",
        "tasks of an array that ended for memory are not submitted again",
        "operations/jobs/test_jobs_on_slurm.py",
        "test_what_ended_for_memory_is_not_submitted_again",
    ),
    (
        "iris",
        "without the ends of its tasks nothing is decided",
        "operations/jobs/test_memory_ends.py",
        "test_without_the_ends_of_its_tasks_nothing_is_decided",
    ),
    (
        "ray",
        "a failure is told with file, line, effort and what is proposed",
        "operations/jobs/test_run.py",
        "test_a_failure_is_reported_with_its_place_and_how_large_the_fix_is",
    ),
    (
        "iris",
        "exhausted HBM is called HBM, and a broken shard is no bug in the code",
        "operations/jobs/test_cause.py",
        "test_exhausted_hbm_and_a_broken_shard_are_called_so_on_the_screen_the_page_and_in_json",
    ),
    (
        "ssh",
        "an old failure in an appended log is over once steps follow",
        "operations/jobs/test_cause.py",
        "test_an_old_failure_in_an_appended_log_is_over_once_steps_follow_it",
    ),
    (
        "ssh",
        "the patrol under a timer notifies on changes and once a day",
        "operations/remote/test_patrol_news.py",
        "test_a_change_is_sent_once_and_again_after_a_day",
    ),
    (
        "iris",
        "after relaunch --job the exact command for the new job is named",
        "operations/jobs/test_run.py",
        "test_after_a_fix_it_is_submitted_again_by_its_command_and_a_second_time_for_the_same_error_not",
    ),
    (
        "ssh",
        "a script that did not come whole replaces nothing",
        "core/remote/test_job_chain.py",
        "test_a_script_that_did_not_come_whole_replaces_nothing",
    ),
    (
        "ray",
        "cluster, experiment and job id are enough to restart",
        "operations/jobs/test_jobs_on_ray.py",
        "test_cluster_experiment_and_id_are_enough_to_submit_it_again",
    ),
    (
        "iris",
        "a job that was submitted again is called down by neither id",
        "operations/jobs/test_takeover.py",
        "test_a_job_that_was_submitted_again_is_called_down_by_neither_id",
    ),
    (
        "ray",
        "progress falls where an earlier step is trained again",
        "operations/jobs/test_run.py",
        "test_progress_falls_where_an_earlier_step_is_trained_again",
    ),
    (
        "slurm",
        "a launcher's events are told once",
        "operations/jobs/test_watch.py",
        "test_a_launchers_events_are_reported_once_and_its_export_at_the_end",
    ),
    (
        "ray",
        "one machine monitors a job, and orders from another are refused",
        "operations/jobs/test_monitor.py",
        "test_a_second_machine_is_refused_until_the_first_no_longer_looks",
    ),
    (
        "ray",
        "the last signal and the tracker's link are in the state file while it is degraded",
        "operations/jobs/test_monitor.py",
        "test_what_is_wrong_with_a_live_job_is_its_last_signal",
    ),
    (
        "iris",
        "a bad node is deleted only in a zone that a person gave",
        "operations/jobs/test_bad_node.py",
        "test_only_a_zone_that_a_person_gave_deletes_the_machine",
    ),
    (
        "ssh",
        "every command of the runbook works when it is typed",
        "operations/remote/test_wait.py",
        "test_every_command_of_the_handbook_works_when_it_is_typed",
    ),
    (
        "ssh",
        "a process on a rented box is watched by its number and the host",
        "operations/jobs/test_jobs_on_a_box.py",
        "test_a_number_and_a_host_are_enough",
    ),
    (
        "ssh",
        "a blind look claims no change and gives its reason once",
        "core/patrol/test_table.py",
        "test_a_blind_look_gives_its_reason_once_and_claims_no_change",
    ),
]


def test_a_sentence_has_its_test() -> None:
    untested_sentences = [
        f"{kind}: {sentence}"
        for kind, sentence, file, test in SENTENCES
        if f"def {test}(" not in (TESTS / file).read_text("utf-8")
    ]
    assert untested_sentences == []


def test_no_sentence_stands_twice() -> None:
    assert len({(kind, sentence) for kind, sentence, _, _ in SENTENCES}) == len(SENTENCES)
