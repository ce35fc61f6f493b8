"""Shipped and public: stand-ins for what a test or a newcomer lacks, and contract suites."""
