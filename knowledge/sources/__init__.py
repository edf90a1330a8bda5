"""Sources that stay fresh: what is out there becomes documents here, through the services that uploads go through."""
