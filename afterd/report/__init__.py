"""An explanation as text: terminal, Markdown, HTML, JSON, SARIF, patch, and live progress."""
