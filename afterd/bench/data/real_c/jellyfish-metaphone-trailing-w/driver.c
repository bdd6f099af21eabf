#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "jellyfish.h"

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    char *code = metaphone(argv[i]);
    if (!code) return 2;
    printf("%s %s\n", argv[i], code);
    free(code);
  }
  return 0;
}
