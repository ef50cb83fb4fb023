"""What must outlive the process: campaigns as Optuna studies, crash journal, lock, state directory."""
