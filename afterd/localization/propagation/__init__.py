"""Techniques that let suspicion flow back along the edges of the control-flow graph."""
