# SPDX-License-Identifier: MIT
"""Sphinx's settings for the HTML documentation. tools/dev/site runs Sphinx."""
import pathlib
import re

project = 'Workshare'
source = pathlib.Path(__file__).resolve().parents[2]
release = re.search(r"version: '([^']+)'", (source / 'meson.build').read_text())[1]
extensions = ['myst_parser']
root_doc = 'index'
# Anchors are those that GitHub makes, so that one link serves both.
myst_heading_anchors = 4
highlight_language = 'none'
html_theme = 'furo'
html_title = f'Workshare {release}'
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_show_copyright = False
html_theme_options = {
    'light_css_variables': {'color-brand-primary': '#1f5f8b', 'color-brand-content': '#1f5f8b'},
    'dark_css_variables': {'color-brand-primary': '#7cc0ee', 'color-brand-content': '#7cc0ee'},
}
html_static_path = ['static']
html_css_files = ['workshare.css']
