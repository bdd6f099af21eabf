#define LIBRARY_START 5
typedef int (*library_hook)(int value, void *context);
extern int library_public;
void library_set(int value);
int library_get(void);
int library_each(int from, int to, library_hook hook, void *context);
