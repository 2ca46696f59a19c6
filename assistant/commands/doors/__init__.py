"""Commands by which others reach the memory.

serve      the screens in a browser, or programs by OpenAI's protocol
keys       by which programs ask in a user's name
mcp        tools of an agent, by the Model Context Protocol
listening  what commands that listen on a port have in common
"""
