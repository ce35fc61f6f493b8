"""DMN documents: XML read safely and written, each element with its place in the bytes."""
