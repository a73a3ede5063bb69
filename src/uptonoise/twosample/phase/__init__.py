"""The phase test and what is built on it."""
