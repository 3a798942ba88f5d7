"""Jobs without a contract: what a person states about one, and what its log shows. Pure."""
