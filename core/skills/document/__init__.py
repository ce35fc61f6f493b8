"""The text of a skill: its frontmatter, its Markdown, writing it whole and editing it."""
