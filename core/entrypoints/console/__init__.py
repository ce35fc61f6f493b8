"""The console: pages that render what the desk gives, in Korean and English."""
