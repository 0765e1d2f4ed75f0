#define _GNU_SOURCE
#include "CEchoServer.h"
#include "internal.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

uint64_t bench_now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

int bench_connect(const char *path, int *descriptor) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    *descriptor = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (*descriptor < 0) return errno;
    if (connect(*descriptor, (struct sockaddr *)&address, sizeof address) == 0) return 0;
    int code = errno;
    close(*descriptor);
    return code;
}

/* One request, and its answer up to the newline, whose content was checked before. */
int bench_ask(int descriptor, const uint8_t *request, size_t length, uint8_t *buffer, size_t capacity) {
    if (send(descriptor, request, length, MSG_NOSIGNAL) != (ssize_t)length) return errno ? errno : EIO;
    for (;;) {
        ssize_t count = recv(descriptor, buffer, capacity, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return errno;
        if (count == 0) return EPROTO;
        if (buffer[count - 1] == '\n') return 0;
    }
}

int load_round_trips(const char *path, const uint8_t *request, size_t length, size_t count, uint64_t *nanoseconds) {
    uint8_t buffer[64 << 10];
    int descriptor;
    int code = bench_connect(path, &descriptor);
    if (code != 0) return code;
    for (size_t index = 0; code == 0 && index < count; index++) {
        uint64_t start = bench_now();
        code = bench_ask(descriptor, request, length, buffer, sizeof buffer);
        nanoseconds[index] = bench_now() - start;
    }
    close(descriptor);
    return code;
}

int load_new_connections(
    const char *path, const uint8_t *request, size_t length, size_t count, uint64_t *nanoseconds) {
    uint8_t buffer[64 << 10];
    for (size_t index = 0; index < count; index++) {
        uint64_t start = bench_now();
        int descriptor;
        int code = bench_connect(path, &descriptor);
        if (code != 0) return code;
        code = bench_ask(descriptor, request, length, buffer, sizeof buffer);
        close(descriptor);
        if (code != 0) return code;
        nanoseconds[index] = bench_now() - start;
    }
    return 0;
}

struct worker {
    const char *path;
    const uint8_t *request;
    size_t length;
    uint64_t end;
    uint64_t done;
    int code;
    pthread_t thread;
};

static void *work(void *argument) {
    struct worker *worker = argument;
    uint8_t buffer[64 << 10];
    int descriptor;
    worker->code = bench_connect(worker->path, &descriptor);
    if (worker->code != 0) return NULL;
    while (worker->code == 0 && bench_now() < worker->end) {
        worker->code = bench_ask(descriptor, worker->request, worker->length, buffer, sizeof buffer);
        worker->done++;
    }
    close(descriptor);
    return NULL;
}

int load_connections(
    const char *path, const uint8_t *request, size_t length, size_t connections, double seconds,
    double *requests_per_second) {
    struct worker *workers = calloc(connections, sizeof *workers);
    if (workers == NULL) return ENOMEM;
    uint64_t start = bench_now();
    uint64_t end = start + (uint64_t)(seconds * 1e9);
    int code = 0;
    size_t started = 0;
    for (; started < connections && code == 0; started++) {
        workers[started] = (struct worker){ .path = path, .request = request, .length = length, .end = end };
        code = pthread_create(&workers[started].thread, NULL, work, &workers[started]);
        if (code != 0) break;
    }
    uint64_t done = 0;
    for (size_t index = 0; index < started; index++) {
        pthread_join(workers[index].thread, NULL);
        done += workers[index].done;
        if (code == 0) code = workers[index].code;
    }
    *requests_per_second = (double)done / ((double)(bench_now() - start) / 1e9);
    free(workers);
    return code;
}

int pin_process(int pid, int core) {
    cpu_set_t cores;
    CPU_ZERO(&cores);
    if (core >= 0) {
        CPU_SET(core, &cores);
    } else {
        for (int each = 0; each < CPU_SETSIZE; each++) CPU_SET(each, &cores);
    }
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    DIR *tasks = opendir(path);
    if (tasks == NULL) return errno;
    int code = 0;
    for (struct dirent *task; (task = readdir(tasks)) != NULL;) {
        int id = atoi(task->d_name);
        /* A thread that ended in the meantime needs no core. */
        if (id > 0 && sched_setaffinity(id, sizeof cores, &cores) != 0 && errno != ESRCH) code = errno;
    }
    closedir(tasks);
    return code;
}
