#define _GNU_SOURCE
#include "CEchoServer.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct served {
    int descriptor;
    const uint8_t *answer;
    size_t length;
};

static int send_all(int descriptor, const uint8_t *bytes, size_t length) {
    while (length > 0) {
        ssize_t sent = send(descriptor, bytes, length, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) continue;
        if (sent <= 0) return -1;
        bytes += sent;
        length -= (size_t)sent;
    }
    return 0;
}

static void *serve(void *argument) {
    struct served served = *(struct served *)argument;
    free(argument);
    char buffer[64 << 10];
    for (;;) {
        ssize_t count = recv(served.descriptor, buffer, sizeof buffer, 0);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        for (char *at = buffer; (at = memchr(at, '\n', (size_t)(buffer + count - at))) != NULL; at++)
            if (send_all(served.descriptor, served.answer, served.length) != 0) goto end;
    }
end:
    close(served.descriptor);
    return NULL;
}

int echo_serve(const char *path, const uint8_t *answer, size_t length) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    if (strlen(path) >= sizeof address.sun_path) return ENAMETOOLONG;
    strcpy(address.sun_path, path);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return errno;
    if (bind(listener, (struct sockaddr *)&address, sizeof address) != 0 || listen(listener, 128) != 0) return errno;
    for (;;) {
        int descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (descriptor < 0) {
            if (errno == EINTR || errno == ECONNABORTED) continue;
            return errno;
        }
        struct served *served = malloc(sizeof *served);
        if (served == NULL) return ENOMEM;
        *served = (struct served){ descriptor, answer, length };
        pthread_t thread;
        int code = pthread_create(&thread, NULL, serve, served);
        if (code != 0) return code;
        pthread_detach(thread);
    }
}
