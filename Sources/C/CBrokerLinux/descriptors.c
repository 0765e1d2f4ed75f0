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
// Two of the reserved numbers: one passes a single descriptor to a thread that leaves the table, the other fills it at all other
// times.
static int slot = -1, filler = -1;

int broker_keep_low_descriptors(void) {
    // If the process may have so few descriptors, connections need all of them.
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
    // Under the lock, so that no descriptor is being passed meanwhile.
    pthread_mutex_lock(&lock);
    int code = keep_low_only();
    pthread_mutex_unlock(&lock);
    if (code == 0) close_range(3, BROKER_OWN_DESCRIPTORS - 1, 0);
    return code;
}

struct leaving {
    sem_t may_leave, has_left, may_go;
    int has_descriptor;
    pid_t thread;
};

static void wait_for(sem_t *semaphore) {
    while (sem_wait(semaphore) != 0) {}
}

// Runs on a thread that exits with the descriptor in a table of its own: the kernel does not linger for a thread that exits
// (inet_release in the kernel).
static void *leave(void *argument) {
    struct leaving *leaving = argument;
    wait_for(&leaving->may_leave);
    // If the descriptor could not be passed, all are copied, and none is closed before the thread ends.
    if (leaving->has_descriptor) keep_low_only(); else close_range(~0U, ~0U, CLOSE_RANGE_UNSHARE);
    leaving->thread = gettid();
    sem_post(&leaving->has_left);
    wait_for(&leaving->may_go);
    return NULL;
}

static void pass_descriptor(int descriptor, struct leaving *leaving) {
    pthread_mutex_lock(&lock);
    leaving->has_descriptor = slot >= 0 && dup3(descriptor, slot, O_CLOEXEC) == slot;
    sem_post(&leaving->may_leave);
    wait_for(&leaving->has_left);
    if (leaving->has_descriptor) dup3(filler, slot, O_CLOEXEC);
    pthread_mutex_unlock(&lock);
}

void broker_close_in_own_fd_table(int descriptor) {
    struct leaving leaving;
    pthread_t thread;
    sem_init(&leaving.may_leave, 0, 0);
    sem_init(&leaving.has_left, 0, 0);
    sem_init(&leaving.may_go, 0, 0);
    int code = pthread_create(&thread, NULL, leave, &leaving);
    if (code == 0) pass_descriptor(descriptor, &leaving);
    close(descriptor);
    if (code != 0) return;
    sem_post(&leaving.may_go);
    pthread_join(thread, NULL);
    // pthread_join can return before the kernel has closed the thread's descriptors.
    while (tgkill(getpid(), leaving.thread, 0) == 0) usleep(1000);
}
