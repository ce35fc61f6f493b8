"""DMN documents: XML read safely and written, each element with its byte offsets."""
