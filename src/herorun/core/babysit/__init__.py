"""What a tick of the babysitter decides: alerts, policy and actions."""
