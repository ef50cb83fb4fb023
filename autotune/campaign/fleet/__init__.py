"""One study shared by several identical hosts."""
