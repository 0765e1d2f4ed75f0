#define _GNU_SOURCE
#include "CEchoServer.h"
#include "internal.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

enum { most_bytes = 16 << 10, access_token_length = 1200 };

struct provider {
    const char *discovery, *keys;
    const char *const *id_tokens;
    size_t people;
    /* How often each person's refresh token was replaced: only the last one is valid. */
    unsigned *rotations;
    char padding[access_token_length + 1];
};

struct connection {
    int descriptor;
    size_t received;
    char bytes[most_bytes + 1];
};

/* A refresh token is PERSON.ROTATION. */
static int refresh(struct provider *provider, const char *form, char *body, size_t capacity) {
    const char *field = strstr(form, "refresh_token=");
    unsigned person, rotation;
    if (field == NULL || sscanf(field, "refresh_token=%u.%u", &person, &rotation) != 2 || person >= provider->people
        || rotation != provider->rotations[person]) {
        snprintf(body, capacity, "{\"error\":\"invalid_grant\"}");
        return 400;
    }
    rotation = ++provider->rotations[person];
    snprintf(
        body, capacity,
        "{\"access_token\":\"%u.%u.%s\",\"token_type\":\"Bearer\",\"expires_in\":3600,\"refresh_token\":\"%u.%u\","
        "\"id_token\":\"%s\"}",
        person, rotation, provider->padding, person, rotation, provider->id_tokens[person]);
    return 200;
}

static int answer(struct provider *provider, int descriptor, const char *head, const char *form) {
    char body[most_bytes], message[most_bytes + 512];
    int status = 200;
    if (strncmp(head, "POST /token ", 12) == 0) status = refresh(provider, form, body, sizeof body);
    else if (strncmp(head, "GET /jwks ", 10) == 0) snprintf(body, sizeof body, "%s", provider->keys);
    else if (strncmp(head, "GET /.well-known/openid-configuration ", 38) == 0)
        snprintf(body, sizeof body, "%s", provider->discovery);
    else {
        status = 404;
        body[0] = 0;
    }
    int length = snprintf(
        message, sizeof message,
        "HTTP/1.1 %d Answer\r\nContent-Type: application/json\r\nCache-Control: no-store\r\nContent-Length: %zu\r\n\r\n%s",
        status, strlen(body), body);
    return send(descriptor, message, (size_t)length, MSG_NOSIGNAL) == length ? 0 : -1;
}

/* Answers the received requests; -1 if the connection is closed. */
static int serve(struct provider *provider, struct connection *connection) {
    ssize_t count = recv(
        connection->descriptor, connection->bytes + connection->received, most_bytes - connection->received, 0);
    if (count <= 0) return count < 0 && errno == EINTR ? 0 : -1;
    connection->received += (size_t)count;
    for (;;) {
        connection->bytes[connection->received] = 0;
        char *end = strstr(connection->bytes, "\r\n\r\n");
        if (end == NULL) return connection->received < most_bytes ? 0 : -1;
        char *form = end + 4;
        end[2] = 0;
        const char *header = strcasestr(connection->bytes, "\r\ncontent-length:");
        size_t length = header ? strtoul(header + 17, NULL, 10) : 0;
        size_t left = connection->received - (size_t)(form - connection->bytes);
        if (left < length) {
            end[2] = '\r';
            return length < most_bytes - (size_t)(form - connection->bytes) ? 0 : -1;
        }
        char next = form[length];
        form[length] = 0;
        if (answer(provider, connection->descriptor, connection->bytes, form) != 0) return -1;
        form[length] = next;
        connection->received = left - length;
        memmove(connection->bytes, form + length, connection->received);
        if (connection->received == 0) return 0;
    }
}

static int listen_at(uint16_t port) {
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (listener < 0) return -1;
    int yes = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    return bind(listener, (struct sockaddr *)&address, sizeof address) == 0 && listen(listener, 128) == 0 ? listener : -1;
}

int provider_serve(
    uint16_t port, const char *discovery, const char *keys, const char *const *id_tokens, size_t people) {
    struct provider provider = { .discovery = discovery, .keys = keys, .id_tokens = id_tokens, .people = people };
    memset(provider.padding, 'a', access_token_length);
    provider.rotations = calloc(people, sizeof *provider.rotations);
    int listener = listen_at(port), set = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = { .events = EPOLLIN };
    if (provider.rotations == NULL || listener < 0 || set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, listener, &event) != 0)
        return errno;
    for (;;) {
        struct epoll_event events[64];
        int count = epoll_wait(set, events, 64, -1);
        if (count < 0 && errno != EINTR) return errno;
        for (int index = 0; index < count; index++) {
            struct connection *connection = events[index].data.ptr;
            if (connection == NULL) {
                if ((connection = calloc(1, sizeof *connection)) == NULL) return ENOMEM;
                connection->descriptor = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
                int yes = 1;
                setsockopt(connection->descriptor, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
                event.data.ptr = connection;
                if (epoll_ctl(set, EPOLL_CTL_ADD, connection->descriptor, &event) != 0) return errno;
            } else if (serve(&provider, connection) != 0) {
                close(connection->descriptor);
                free(connection);
            }
        }
    }
}
