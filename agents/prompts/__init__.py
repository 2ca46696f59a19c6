"""What is said to a chat model, one file a purpose."""
