"""The records of a process: the window that was kept, searched backwards, and runs made again for what is not in it."""
