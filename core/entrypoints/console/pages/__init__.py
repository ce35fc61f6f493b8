"""The pages of the console, a file each; `add` of each puts it on the site."""
