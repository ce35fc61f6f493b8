"""Cases: what must stay true of what was learnt, judged before a change and again as it is applied.

`proposed` reads those that come with a change, `judging` decides what breaks, `retiring` what an
older one gives way to.
"""
