"""Looking into answers: why a paper is there or is not, what its papers have in common, what groups they fall into."""
