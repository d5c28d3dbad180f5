"""What everything stands on: names, limits, numbers, random streams, YAML with places."""
