"""The nightly job: prove that the setting holds, change it only on proof, tell the team."""
