/* What gcc's own <stddef.h> declares, and clang's does not. */
typedef decltype(nullptr) nullptr_t;
