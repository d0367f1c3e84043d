"""Studies of a corpus or an index: fusion fitted to judgements, types of dense index compared, answers to changed papers."""
