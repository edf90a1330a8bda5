"""Questions asked in the company's chat platform: under the asker's rights; in groups, under those all members share."""
