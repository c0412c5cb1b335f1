"""What happens to memories over days and months."""
