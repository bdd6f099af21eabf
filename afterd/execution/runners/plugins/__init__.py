"""What runs inside the interpreter of a tested project."""
