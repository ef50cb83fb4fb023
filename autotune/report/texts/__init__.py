"""Every sentence and label of the report, in English and in Chinese."""
