"""Where else to look: ranking techniques over spectra and formulas, and their fusion."""
