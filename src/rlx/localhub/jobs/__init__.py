"""The Hub's Jobs and the Sandbox API over local sandboxes."""
