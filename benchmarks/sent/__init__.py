"""What a chat model is sent: dialogues of forty turns, and a server that keeps every request.

lines.tsv    what is said in them, what is asked behind them, and what has then to be in the request
__main__.py  plays them, and counts
"""
