"""Studies of a corpus or an index: tuning of fusion, comparison of types of dense index, answers to changed papers."""
