"""What learnt items do once they reach agents: the record of uses, what came back, what helps.

It may import what `knowledge` may; what is proposed is decided in `changes`.
Begin with `recorder.py`; `looking_back.py` finds complaints that came back, `trial.py` judges.
"""
