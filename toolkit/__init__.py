"""warmkit: equations for math word problems, learnt from their answers."""
