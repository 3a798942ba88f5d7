"""What only jobs over ssh need: the programs that run on the remote machine, and their answers."""
