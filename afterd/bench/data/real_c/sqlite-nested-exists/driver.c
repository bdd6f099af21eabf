#include <stdio.h>
#include <string.h>
#include "sqlite3.h"

static int print_row(void *unused, int n, char **values, char **names) {
  (void)unused; (void)names;
  for (int i = 0; i < n; i++) printf("%s%s", i ? "|" : "", values[i] ? values[i] : "NULL");
  printf("\n");
  return 0;
}

int main(void) {
  static const char *script =
    "CREATE TABLE author(id INTEGER PRIMARY KEY, name TEXT);"
    "CREATE TABLE book(author INTEGER, shelf INTEGER);"
    "CREATE TABLE shelf(id INTEGER);"
    "INSERT INTO author VALUES(1,'Ada'),(2,'Bob'),(3,'Cyd');"
    "INSERT INTO book VALUES(1,10),(1,20),(2,20),(3,10),(3,30);"
    "INSERT INTO shelf VALUES(20),(21);"
    "SELECT name FROM author WHERE EXISTS("
    "  SELECT 1 FROM book WHERE book.author=author.id AND EXISTS("
    "    SELECT 1 FROM shelf WHERE shelf.id=book.shelf)) ORDER BY name;";
  sqlite3 *db;
  char *message = 0;
  if (sqlite3_open(":memory:", &db) != SQLITE_OK) return 2;
  if (sqlite3_exec(db, script, print_row, 0, &message) != SQLITE_OK) {
    printf("error: %s\n", message);
    return 2;
  }
  sqlite3_close(db);
  return 0;
}
