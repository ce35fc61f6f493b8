"""The gettext catalogues of messages: `messages.pot` in English, a folder for each other language.

English is read from the template itself, so that a checkout says what its code says. The others
are compiled to a `messages.mo` when the package is built and before tests of a checkout
(`build_hook.py`); where one is missing, or has no text for a code, English stands in. Read them by
`core.domain.messages`.
"""
