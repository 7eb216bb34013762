"""What several exercises share: makers of inputs, oracles, models that note how they are called, recognisers, hints."""
