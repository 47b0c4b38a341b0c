"""What several models share: encoder, tree decoder, batches, seeds, worker groups, weights files."""
