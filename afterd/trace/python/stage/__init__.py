"""Running a test of one version under the recorder, and running variants again cheaply."""
