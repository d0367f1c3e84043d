"""Tools for assistants: a server of the Model Context Protocol, through which a language model searches the indexes. Needs the extra
`mcp`.
"""
