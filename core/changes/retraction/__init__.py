"""Taking back what one piece of feedback taught, and keeping what was learnt since."""
