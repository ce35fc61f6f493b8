"""The pages of the console, a file each; `add` of each registers it on the site."""
