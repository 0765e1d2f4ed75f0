#define _GNU_SOURCE
#include "CEchoServer.h"
#include "internal.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { connections = 32, most_bytes_of_an_answer = 16 << 10 };

struct storm {
    const char *path;
    const char *const *lines;
    size_t count;
    double seconds;
    int code;
    atomic_bool is_over;
};

struct part {
    size_t asked, answered, received, capacity;
    char *answers;
};

/* Reads until each line has its answer; none of them may be an error. */
static int read_answers(struct pollfd *sockets, struct part *parts) {
    for (size_t waiting = connections; waiting > 0;) {
        if (poll(sockets, connections, 60000) <= 0) return ETIMEDOUT;
        for (size_t index = 0; index < connections; index++) {
            struct part *part = &parts[index];
            if (sockets[index].revents == 0) continue;
            ssize_t count = recv(sockets[index].fd, part->answers + part->received, part->capacity - part->received, 0);
            if (count <= 0) return EPROTO;
            for (ssize_t at = 0; at < count; at++) part->answered += part->answers[part->received + (size_t)at] == '\n';
            part->received += (size_t)count;
            if (part->answered < part->asked) continue;
            char *error = memmem(part->answers, part->received, "\"error\":{", 9);
            if (error != NULL) {
                fprintf(stderr, "refused: %.300s\n", error);
                return ECANCELED;
            }
            sockets[index].fd = -1;
            waiting--;
        }
    }
    return 0;
}

static int send_lines(struct storm *storm, struct pollfd *sockets, struct part *parts) {
    for (size_t index = 0; index < storm->count; index++) {
        const char *line = storm->lines[index];
        size_t length = strlen(line), place = index % connections;
        if (send(sockets[place].fd, line, length, MSG_NOSIGNAL) != (ssize_t)length) return errno ? errno : EIO;
        parts[place].asked++;
    }
    for (size_t index = 0; index < connections; index++) {
        parts[index].capacity = parts[index].asked * most_bytes_of_an_answer;
        if (parts[index].asked == 0) return EINVAL;
        if ((parts[index].answers = malloc(parts[index].capacity)) == NULL) return ENOMEM;
    }
    return 0;
}

static void *blow(void *argument) {
    struct storm *storm = argument;
    struct pollfd sockets[connections];
    int descriptors[connections];
    struct part parts[connections] = { 0 };
    size_t connected = 0;
    for (; connected < connections && storm->code == 0; connected += storm->code == 0) {
        storm->code = bench_connect(storm->path, &descriptors[connected]);
        sockets[connected] = (struct pollfd){ .fd = descriptors[connected], .events = POLLIN };
    }
    uint64_t start = bench_now();
    if (storm->code == 0) storm->code = send_lines(storm, sockets, parts);
    if (storm->code == 0) storm->code = read_answers(sockets, parts);
    storm->seconds = (double)(bench_now() - start) / 1e9;
    for (size_t index = 0; index < connected; index++) {
        close(descriptors[index]);
        free(parts[index].answers);
    }
    atomic_store(&storm->is_over, true);
    return NULL;
}

int load_paced(const char *path, const uint8_t *request, size_t length, size_t count, uint64_t *nanoseconds) {
    return load_in_storm(path, NULL, 0, request, length, nanoseconds, &count, NULL);
}

int load_in_storm(
    const char *path, const char *const *lines, size_t line_count, const uint8_t *request, size_t length,
    uint64_t *nanoseconds, size_t *count, double *seconds) {
    struct storm storm = { .path = path, .lines = lines, .count = line_count };
    uint8_t buffer[64 << 10];
    int descriptor;
    int code = bench_connect(path, &descriptor);
    if (code != 0) return code;
    pthread_t thread;
    if (line_count > 0) code = pthread_create(&thread, NULL, blow, &storm);
    bool is_blowing = line_count > 0 && code == 0;
    size_t done = 0;
    while (code == 0 && done < *count && !atomic_load(&storm.is_over)) {
        uint64_t before = bench_now();
        code = bench_ask(descriptor, request, length, buffer, sizeof buffer);
        nanoseconds[done++] = bench_now() - before;
        /* Not as fast as it goes: what is measured is the wait, and the others need the processor, too. */
        nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
    }
    if (is_blowing) {
        pthread_join(thread, NULL);
        *seconds = storm.seconds;
    }
    *count = done;
    close(descriptor);
    return code != 0 ? code : storm.code;
}
