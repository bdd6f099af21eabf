#include <stdio.h>
#include "sqlite3.h"

/* A decimal text becomes a number, and the number is printed. */
static int print_row(void *unused, int n, char **values, char **names) {
  (void)unused; (void)names;
  for (int i = 0; i < n; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
  printf("\n");
  return 0;
}

int main(void) {
  sqlite3 *db;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 2;
  if (sqlite3_exec(db, "SELECT CAST('18446744073709550592.0' AS REAL);", print_row, 0, 0) != SQLITE_OK) return 2;
  sqlite3_close(db);
  return 0;
}
