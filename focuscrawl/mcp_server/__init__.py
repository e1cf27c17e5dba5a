"""A server for language models: tools over stdio that search, read and explain crawls, and start them within bounds."""
