"""Sources that stay fresh: pages and files of other systems become documents here, through the services of uploads."""
