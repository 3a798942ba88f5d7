"""Jobs that nobody planned: what a person says of one, and what its own words tell. Pure."""
