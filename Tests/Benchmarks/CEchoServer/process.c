#define _GNU_SOURCE
#include "CEchoServer.h"
#include "internal.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

static int start(const char *const *arguments, pid_t *pid) {
    posix_spawn_file_actions_t actions;
    int code = posix_spawn_file_actions_init(&actions);
    if (code != 0) return code;
    for (int descriptor = 0; descriptor < 3; descriptor++)
        posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0);
    code = posix_spawn(pid, arguments[0], &actions, NULL, (char *const *)arguments, environ);
    posix_spawn_file_actions_destroy(&actions);
    return code;
}

static int wait_for(pid_t pid) {
    int status;
    while (waitpid(pid, &status, 0) < 0)
        if (errno != EINTR) return errno;
    return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : ECANCELED;
}

int time_program(const char *const *arguments, uint64_t *nanoseconds) {
    pid_t pid;
    uint64_t begin = bench_now();
    int code = start(arguments, &pid);
    if (code != 0) return code;
    code = wait_for(pid);
    *nanoseconds = bench_now() - begin;
    return code;
}

int time_first_answer(
    const char *const *arguments, const char *path, const uint8_t *request, size_t length, uint64_t *nanoseconds) {
    uint8_t buffer[64 << 10];
    pid_t pid;
    uint64_t begin = bench_now();
    int code = start(arguments, &pid);
    if (code != 0) return code;
    for (;;) {
        int descriptor;
        code = bench_connect(path, &descriptor);
        if (code == 0) {
            code = bench_ask(descriptor, request, length, buffer, sizeof buffer);
            *nanoseconds = bench_now() - begin;
            close(descriptor);
            break;
        }
        if (waitpid(pid, NULL, WNOHANG) == pid) return ECANCELED;
        nanosleep(&(struct timespec){ .tv_nsec = 200000 }, NULL);
    }
    kill(pid, SIGTERM);
    int ended = wait_for(pid);
    return code != 0 ? code : ended;
}
