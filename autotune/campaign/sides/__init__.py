"""What a campaign runs against: MindIE or vLLM on this host, or a rehearsal, each with its load."""
