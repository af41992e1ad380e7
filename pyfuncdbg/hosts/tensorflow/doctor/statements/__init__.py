"""Statements of the program that make script ops: taken apart, and rewritten for a fix."""
