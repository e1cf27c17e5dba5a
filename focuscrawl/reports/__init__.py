"""What a crawl tells about itself."""
