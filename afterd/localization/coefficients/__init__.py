"""Suspiciousness coefficients: one plain function each, from counts to one value per entity."""
