"""Frozen value types shared by every layer; the words of the glossary in docs/architecture.md."""
