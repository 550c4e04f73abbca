# SPDX-License-Identifier: MIT
"""The matrix's entries for Fortran."""


def cases():
    return []


def program(cases, language):
    return [], []
