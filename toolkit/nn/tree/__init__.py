"""GTS, the network that writes an equation as a tree: tokens, known trees, decoder, beam search."""
