"""LLVM IR as text: functions, types, debug information, literals and what each instruction records."""
