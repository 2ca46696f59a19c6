"""Doors for other programs, each over `vouch.Vouch`: nothing here reaches a store by itself.

guard          who may ask over HTTP, and how much
listening      a server on a port, until it is told to end
mcp_tools      the Model Context Protocol: one user's memory as tools of an agent
mcp_ingest     documents that an agent has read, in the background
openai_api     OpenAI's protocol: the memory of whoever has the key, as a model
openai_bodies  what is sent by it, checked
metrics        what a server tells of itself: counts and times
"""
