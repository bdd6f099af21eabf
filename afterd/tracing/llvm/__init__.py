"""The tracer of C and C++, through LLVM IR."""
