"""The parent process of serve: the data folder's lock, its children, their restarts and their end."""
