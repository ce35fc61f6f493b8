"""The console: pages that render what the services return, in Korean and English."""
