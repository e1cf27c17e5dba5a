"""Take a crawl with you: writers of the formats that other tools read, and readers of other tools' archives."""
