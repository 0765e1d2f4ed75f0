#pragma once

#include <stddef.h>
#include <stdint.h>

/* The floor that the broker is measured against, and the load that measures both. */

/* Serves `path` until the process is killed: answers every line with `answer` (newline included), one thread a
   connection. Returns the errno value of what failed. */
int echo_serve(const char *path, const uint8_t *answer, size_t length);

/* Sends `request` (newline included) `count` times over one connection, each after the answer to the one before, and
   stores each round trip in nanoseconds. Returns 0 or an errno value; EPROTO when the answer does not end in a newline. */
int load_round_trips(const char *path, const uint8_t *request, size_t length, size_t count, uint64_t *nanoseconds);

/* The same, with a new connection for each. */
int load_new_connections(
    const char *path, const uint8_t *request, size_t length, size_t count, uint64_t *nanoseconds);

/* The same over many connections at once, one thread each, for `seconds`. */
int load_connections(
    const char *path, const uint8_t *request, size_t length, size_t connections, double seconds,
    double *requests_per_second);

/* Round trips at one socket with a short pause after each. `count` is the room for times, and then how many there are;
   `code` is 0 or an errno value. */
struct paced_load {
    const char *path;
    const uint8_t *request;
    size_t length;
    uint64_t *nanoseconds;
    size_t count;
    int code;
};

int load_paced(struct paced_load *paced);

/* The same at two sockets, while all of the lines (newline included) are sent at once to `path` over some connections, until
   each has its answer. `seconds` is how long the lines took. Returns 0 or an errno value; ECANCELED when an answer is an error,
   which is told on standard error. */
int load_in_storm(
    const char *path, const char *const *lines, size_t line_count, struct paced_load *first, struct paced_load *second,
    double *seconds);

/* A provider that does as little as one can: discovery, keys, and a token endpoint where people spend refresh tokens that
   are good once ("PERSON.0" the first). Serves until the process is killed; returns the errno value of what failed. */
int provider_serve(
    uint16_t port, const char *discovery, const char *keys, const char *const *id_tokens, size_t people);

/* Posts forms with nothing but libcurl. Returns 0 or an errno value; EPROTO when an answer is not one of success. */
int http_posts(const char *url, const char *const *forms, size_t count, double *seconds);

/* Lets a process, with all its threads, run on one core; -1 lets it run on all. Returns 0 or an errno value. */
int pin_process(int pid, int core);

/* Runs a program to its end, output thrown away. Returns 0, an errno value, or ECANCELED when it did not succeed. */
int time_program(const char *const *arguments, uint64_t *nanoseconds);

/* Starts a server, asks until it answers the first time, and ends it with SIGTERM. The time is from the start to that
   answer. Returns 0, an errno value, or ECANCELED when the server ended before. */
int time_first_answer(
    const char *const *arguments, const char *path, const uint8_t *request, size_t length, uint64_t *nanoseconds);

/* Asks the oidc-agent of $OIDC_SOCK for an account's token through its own library. Returns 0 or an errno value; ENOENT when the
   library is not there. */
int agent_tokens(const char *account, size_t count, uint64_t *nanoseconds);
