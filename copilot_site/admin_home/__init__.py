"""The first page of the administration: is it well, and what should I do?"""
