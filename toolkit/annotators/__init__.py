"""Who annotates, what they are asked, and what becomes of their answers. Nothing here loads torch."""
