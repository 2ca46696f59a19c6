"""One file a subcommand; each is imported only when it is called."""
