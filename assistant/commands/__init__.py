"""One file a subcommand; each is imported only when it is called.

doors/     vouch serve, keys and mcp
memory/    vouch memory
replay/    vouch replay
training/  vouch train and vouch encoder
upkeep/    vouch doctor, backup and restore
"""
