#include <arpa/inet.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>
#include "ares.h"

/* A DNS answer as a server sends it: www.test -> CNAME *.test.cdn -> A 1.1.1.1 */
static unsigned char packet[512];
static int size;

static void byte(int value) { packet[size++] = (unsigned char)value; }
static void word(int value) { byte(value >> 8); byte(value & 255); }
static void name(const char *dotted) {
  while (*dotted) {
    size_t n = strcspn(dotted, ".");
    byte((int)n);
    memcpy(packet + size, dotted, n);
    size += (int)n;
    dotted += n + (dotted[n] == '.');
  }
  byte(0);
}
static void record(const char *owner, int type, int length) {
  name(owner); word(type); word(1); word(0); word(300); word(length);
}

int main(void) {
  struct hostent *host = NULL;
  word(0x1234); word(0x8180); word(1); word(2); word(0); word(0);
  name("www.test"); word(1); word(1);
  record("www.test", 5, 12); name("*.test.cdn");
  record("*.test.cdn", 1, 4); byte(1); byte(1); byte(1); byte(1);
  int status = ares_parse_a_reply(packet, size, &host, NULL, NULL);
  printf("%s\n", ares_strerror(status));
  if (status != ARES_SUCCESS) return 1;
  printf("%s %s\n", host->h_name, inet_ntoa(*(struct in_addr *)host->h_addr_list[0]));
  ares_free_hostent(host);
  return 0;
}
