"""Questions asked and answered in the company's chat platform: under the asker's rights and, in groups, the rights that
all members share.
"""
