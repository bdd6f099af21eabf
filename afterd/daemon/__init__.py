"""The daemon: watches repositories, tests new commits, and explains what turned red."""
