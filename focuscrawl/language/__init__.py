"""Languages: which one a page is in, and what its words are stemmed by."""
