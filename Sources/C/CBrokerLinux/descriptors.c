#define _GNU_SOURCE
#include "descriptors.h"

#include "hardening.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stddef.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
// Two of the numbers that are kept: where one descriptor at a time is lent to a thread that leaves, and what is there otherwise.
static int slot = -1, filler = -1;

int broker_keep_low_descriptors(void) {
    // Where the process may have so few, others need them.
    if (broker_allow_descriptors(4 * BROKER_OWN_DESCRIPTORS) < 4 * BROKER_OWN_DESCRIPTORS) return EMFILE;
    int kept = open("/dev/null", O_RDONLY | O_CLOEXEC);
    if (kept < 0) return errno;
    pthread_mutex_lock(&lock);
    while (kept >= 0 && kept < BROKER_OWN_DESCRIPTORS) {
        if (filler < 0) {
            filler = kept;
        } else if (kept > STDERR_FILENO) {
            slot = kept;
        }
        kept = fcntl(filler, F_DUPFD_CLOEXEC, 0);
    }
    int code = kept < 0 ? errno : 0;
    if (kept >= 0) close(kept);
    pthread_mutex_unlock(&lock);
    return code;
}

static int keep_low_only(void) { return close_range(BROKER_OWN_DESCRIPTORS, ~0U, CLOSE_RANGE_UNSHARE) == 0 ? 0 : errno; }

int broker_leave_descriptors(void) {
    // While none is lent.
    pthread_mutex_lock(&lock);
    int code = keep_low_only();
    pthread_mutex_unlock(&lock);
    if (code == 0) close_range(3, BROKER_OWN_DESCRIPTORS - 1, 0);
    return code;
}

struct leaving {
    sem_t may_leave, has_left, may_go;
    int is_lent;
    pid_t thread;
};

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) {}
}

// Ends with the descriptor in a table of its own: nobody lingers for a thread that ends (inet_release in the kernel).
static void *leave(void *argument) {
    struct leaving *leaving = argument;
    wait_for(&leaving->may_leave);
    // Where none could be lent, all are copied, and none is closed before the end.
    if (leaving->is_lent) keep_low_only(); else close_range(~0U, ~0U, CLOSE_RANGE_UNSHARE);
    leaving->thread = gettid();
    sem_post(&leaving->has_left);
    wait_for(&leaving->may_go);
    return NULL;
}

static void lend(int descriptor, struct leaving *leaving) {
    pthread_mutex_lock(&lock);
    leaving->is_lent = slot >= 0 && dup3(descriptor, slot, O_CLOEXEC) == slot;
    sem_post(&leaving->may_leave);
    wait_for(&leaving->has_left);
    if (leaving->is_lent) dup3(filler, slot, O_CLOEXEC);
    pthread_mutex_unlock(&lock);
}

void broker_close_in_own_fd_table(int descriptor) {
    struct leaving leaving;
    pthread_t thread;
    sem_init(&leaving.may_leave, 0, 0);
    sem_init(&leaving.has_left, 0, 0);
    sem_init(&leaving.may_go, 0, 0);
    int code = pthread_create(&thread, NULL, leave, &leaving);
    if (code == 0) lend(descriptor, &leaving);
    close(descriptor);
    if (code != 0) return;
    sem_post(&leaving.may_go);
    pthread_join(thread, NULL);
    // A thread is joined before the kernel closes what it had.
    while (tgkill(getpid(), leaving.thread, 0) == 0) usleep(1000);
}
