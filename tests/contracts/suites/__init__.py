"""What the stores of this program must do: ports that no plug-in implements."""
