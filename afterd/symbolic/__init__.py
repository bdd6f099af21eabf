"""A program's formula: LLVM IR executed on one input, with the terms of what it computed beside."""
