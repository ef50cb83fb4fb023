"""The doctor: what a campaign would trip over, told before it begins; touches nothing."""
