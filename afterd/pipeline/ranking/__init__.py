"""A suite counted test by test, and its lines ranked by what failed tests executed."""
