"""Jobs without a contract."""
