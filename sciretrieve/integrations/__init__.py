"""An index as a retriever of other libraries. Each module needs its own extra, and is only imported on request."""
