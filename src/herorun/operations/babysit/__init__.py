"""One tick, and the loop of ticks, over one run or many."""
