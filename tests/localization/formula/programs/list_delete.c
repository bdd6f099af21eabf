/* Gopinath, Nokhbeh Zaeem and Khurshid 2012, Listing 1: delete from a singly linked list.
 * Arguments: the key to delete, how many nodes, and three keys of which the first so many are taken. */
#include <assert.h>
#include <stdlib.h>

struct node {
    struct node *next;
    int key;
};

struct list {
    struct node *header;
    int size;
};

static int delete(struct list *this, int k)
{
    struct node *prev = NULL;                /* 1 */
    struct node *lst = this->header;         /* 2 */
    while (lst != NULL) {                    /* 3 */
        if (lst->key == k) {                 /* 4 */
            if (prev != NULL)                /* 5 */
                prev->next = lst->next;      /* 6 */
            else
                this->header = this->header->next; /* 7 */
            this->size = this->size - 1;     /* 8 */
            return 1;                        /* 9 */
        }
        prev = lst;                          /* 10 */
        lst = lst->next;                     /* 11 */
    }
    return 0;                                /* 12 */
}

static int reachable(const struct list *this)
{
    int count = 0;
    const struct node *at;
    for (at = this->header; at != NULL && count < 10; at = at->next)
        count++;
    return count;
}

static int contains(const struct list *this, int k)
{
    const struct node *at = this->header;
    int steps;
    for (steps = 0; at != NULL && steps < 10; steps++) {
        if (at->key == k)
            return 1;
        at = at->next;
    }
    return 0;
}

static struct node nodes[3];

int main(int count, char **words)
{
    struct list list = {NULL, 0};
    int k = atoi(words[1]);
    int n = atoi(words[2]);
    int i, old, present;
    if (count < 6 || n < 0 || n > 3)
        return 0;
    for (i = n - 1; i >= 0; i--) {
        nodes[i].key = atoi(words[3 + i]);
        nodes[i].next = list.header;
        list.header = &nodes[i];
        list.size++;
    }
    for (i = 1; i < n; i++) {
        if (nodes[i].key == nodes[i - 1].key || nodes[i].key == nodes[0].key)
            return 0; /* not a valid list: keys are unique */
    }
    old = list.size;
    present = contains(&list, k);
    delete(&list, k);
    assert(!contains(&list, k));                     /* remove ok */
    assert(list.size == (present ? old - 1 : old));    /* size ok */
    return 0;
}
