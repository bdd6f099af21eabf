/* Threads with atomics, a mutex and thread-local storage; the first thread's own work is what is followed. */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>

static atomic_int shared;
static _Thread_local int mine = 5;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long guarded;

static void *work(void *argument) {
    int rounds = *(int *)argument;
    for (int i = 0; i < rounds; i++) {
        atomic_fetch_add(&shared, 1);
        pthread_mutex_lock(&lock);
        guarded += i;
        pthread_mutex_unlock(&lock);
        mine++;
    }
    return NULL;
}

int main(void) {
    pthread_t threads[4];
    int rounds = 300;
    for (int i = 0; i < 4; i++) pthread_create(&threads[i], NULL, work, &rounds);
    for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
    int expected = 1200, fresh = 8;
    _Bool swapped = atomic_compare_exchange_strong(&shared, &expected, 77);
    int failed = atomic_compare_exchange_strong(&shared, &fresh, 1);
    int before = atomic_exchange(&shared, 12);
    int most = atomic_fetch_or(&shared, 3);
    atomic_store_explicit(&shared, most + 1, memory_order_release);
    mine += 2;
    printf("%d %d %d %d %d %d %ld\n", swapped, failed, fresh, before, atomic_load(&shared), mine, guarded);
    return mine;
}
