"""Questions asked in the company's chat platform: under the asker's rights and, in groups, those that all members
share.
"""
