"""What results say: tables, paired comparison, significance."""
