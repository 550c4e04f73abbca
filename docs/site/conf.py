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
# Debian 12's style sheet of furo lacks its colours for dark pages, so all of them stand here.
html_theme_options = {
    'light_css_variables': {'color-brand-primary': '#1f5f8b', 'color-brand-content': '#1f5f8b'},
    'dark_css_variables': {
        'color-brand-primary': '#7cc0ee', 'color-brand-content': '#7cc0ee', 'color-problematic': '#ee7b7b',
        'color-foreground-primary': '#dfe3e8', 'color-foreground-secondary': '#a9b1ba', 'color-foreground-muted': '#8a929c', 'color-foreground-border': '#666d76',
        'color-background-primary': '#15181c', 'color-background-secondary': '#1b1f24', 'color-background-hover': '#252b32',
        'color-background-hover--transparent': '#252b3200', 'color-background-border': '#343b44', 'color-background-item': '#444c56',
        'color-code-background': '#20252b', 'color-code-foreground': '#dfe3e8', 'color-inline-code-background': '#20252b',
        'color-sidebar-background': '#1b1f24', 'color-sidebar-search-background': '#1b1f24', 'color-sidebar-item-background--hover': '#252b32',
        'color-table-header-background': '#20252b', 'color-table-border': '#343b44', 'color-header-background': '#1b1f24', 'color-header-border': '#343b44',
        'color-highlight-on-target': '#3a3a20', 'color-link': '#7cc0ee', 'color-link--hover': '#a5d6f5', 'color-link-underline': '#343b44',
    },
}
html_static_path = ['static']
html_css_files = ['workshare.css']
html_js_files = ['workshare.js']
