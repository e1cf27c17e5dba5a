"""What spiders are made of."""
