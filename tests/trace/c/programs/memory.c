/* memcpy, memset, memmove, realloc, VLAs, arrays of arrays, alloca, overlapping and partial writes. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int grid[4][5];
static long counters[3] = {1, 2};
static const char *const names[] = {"zero", "one", "two"};

static int vla(int n) {
    int squares[n];
    for (int i = 0; i < n; i++) squares[i] = i * i;
    int sum = 0;
    for (int i = n; i-- > 0;) sum += squares[i];
    return sum;
}

int main(void) {
    for (int r = 0; r < 4; r++)
        for (int c = 0; c < 5; c++) grid[r][c] = r * 10 + c;
    memcpy(grid[3], grid[1], sizeof grid[1]);
    memmove(&grid[0][1], &grid[0][0], 4 * sizeof(int));
    uint64_t word = 0x1122334455667788u;
    unsigned char *bytes = (unsigned char *)&word;
    bytes[1] = 0xff;
    uint16_t middle;
    memcpy(&middle, bytes + 1, 2);
    uint32_t high = (uint32_t)(word >> 32);
    int *many = malloc(4 * sizeof *many);
    memset(many, 0x11, 4 * sizeof *many);
    many[2] = 7;
    many = realloc(many, 64 * sizeof *many);
    many[63] = many[0] + many[2];
    counters[2] = counters[0] + counters[1];
    counters[1] <<= 4;
    int *zeroed = calloc(4, sizeof *zeroed);
    zeroed[1]++;
    int local[6] = {1, 2, 3}, copied[6];
    memcpy(copied, local, sizeof copied);
    copied[4] += copied[1];
    char *dynamic = __builtin_alloca(16);
    strcpy(dynamic, names[2]);
    printf("%d %d %d %d\n", grid[3][4], grid[0][4], grid[0][1], vla(6));
    printf("%x %x %d %ld %ld %d %d %s\n", middle, high, many[63], counters[2], counters[1], copied[4], zeroed[1], dynamic);
    free(many);
    free(zeroed);
    return copied[4] + grid[2][2];
}
