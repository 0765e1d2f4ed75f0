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

/* Sends requests to one socket, with a short pause after each, until the storm is over or the array of times is full. */
static void ask_paced(struct storm *storm, struct paced_load *paced) {
    uint8_t buffer[64 << 10];
    int descriptor;
    size_t done = 0;
    paced->code = bench_connect(paced->path, &descriptor);
    if (paced->code == 0) {
        while (paced->code == 0 && done < paced->count && !atomic_load(&storm->is_over)) {
            uint64_t before = bench_now();
            paced->code = bench_ask(descriptor, paced->request, paced->length, buffer, sizeof buffer);
            paced->nanoseconds[done++] = bench_now() - before;
            /* Not at full speed: the wait is measured, and the others need the processor, too. */
            nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
        }
        close(descriptor);
    }
    paced->count = done;
}

int load_paced(struct paced_load *paced) {
    struct storm calm = { 0 };
    ask_paced(&calm, paced);
    return paced->code;
}

struct second {
    struct storm *storm;
    struct paced_load *paced;
};

static void *ask_second(void *argument) {
    struct second *second = argument;
    ask_paced(second->storm, second->paced);
    return NULL;
}

int load_in_storm(
    const char *path, const char *const *lines, size_t line_count, struct paced_load *first, struct paced_load *second,
    double *seconds) {
    struct storm storm = { .path = path, .lines = lines, .count = line_count };
    struct second other = { .storm = &storm, .paced = second };
    pthread_t storming, asking;
    int code = pthread_create(&storming, NULL, blow, &storm);
    if (code != 0) return code;
    code = pthread_create(&asking, NULL, ask_second, &other);
    if (code == 0) {
        ask_paced(&storm, first);
        pthread_join(asking, NULL);
    }
    pthread_join(storming, NULL);
    *seconds = storm.seconds;
    if (code == 0) code = storm.code;
    if (code == 0) code = first->code;
    return code != 0 ? code : second->code;
}
