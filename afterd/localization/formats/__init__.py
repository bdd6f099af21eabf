"""Other tools' coverage matrices: text in, spectrum out, and back."""
