"""What has happened, for people: status, report, goodput, comparison, backtest."""
