"""Methods that the product's are compared with, and simulated users. Run by hand, and not installed.

replay    vouch replay with them: python -m experiments.replay
feedback  what simulated users say after an answer
methods/  ways of searching
"""
