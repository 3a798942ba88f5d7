"""From a contract to a job: preflight, admission, submission, relaunch."""
