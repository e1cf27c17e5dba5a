"""Item pipelines: classify, matched URLs, store, pages file."""
