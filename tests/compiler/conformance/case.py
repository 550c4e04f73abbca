# SPDX-License-Identifier: MIT
"""What the tables are made of."""
import dataclasses

@dataclasses.dataclass
class Case:
    """One entry of the matrix. Its class is the first word of its name: 'reductions/+/int'.

    `body` is what runs, with its directives; the plain run is the same text without the lines that begin with one.
    In the texts @ stands for a number of the case's own. `scope` goes before the function, `other` into a second file.
    """
    name: str
    body: str
    scope: str = ''
    other: str = ''
    languages: tuple = ('c', 'c++')
    regions: int = 1            # the least number that must open
    tasks: int = 0              # and the least number of tasks
    openmp: bool = False        # needs -fopenmp
    declarations: str = ''      # Fortran: what stands before the statements
    compilers: tuple = ('gcc', 'clang')

    @property
    def group(self):
        return self.name.split('/')[0]
