"""Records as steps in SSA form: frames, registers, memory, statements and the branches that decided them."""
