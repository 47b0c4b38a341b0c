"""What several models share: encoder, batches, seeds, worker groups, weights files."""
