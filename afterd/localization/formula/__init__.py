"""Localisation by a formula of the failing run: which statements, if changed, could have passed?"""
