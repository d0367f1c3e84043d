"""The full texts of papers: read from PDFs, XML, LaTeX and others, cut into passages, and matched to their papers."""
