"""The process that holds a forge's token: it reads answers as data and posts them.

It never opens the repository, starts no process and runs no test (a contract of import-linter says
so): what it posts comes from a file that it trusts in nothing.
"""
