#pragma once

#include <stddef.h>
#include <stdint.h>

/* The baseline server that the broker is compared with, and the load for both. */

/* Serves `path` until the process is killed: answers every line with `answer` (newline included), one thread a
   connection. Returns the errno value of the failed call. */
int echo_serve(const char *path, const uint8_t *answer, size_t length);

/* Sends `request` (newline included) `count` times over one connection, each after the answer to the one before, and
   stores each round trip in nanoseconds. Returns 0 or an errno value; EPROTO if the answer does not end in a newline. */
int load_round_trips(const char *path, const uint8_t *request, size_t length, size_t count, uint64_t *nanoseconds);

/* The same, with a new connection for each. */
int load_new_connections(
    const char *path, const uint8_t *request, size_t length, size_t count, uint64_t *nanoseconds);

/* The same over many connections at once, one thread each, for `seconds`. */
int load_connections(
    const char *path, const uint8_t *request, size_t length, size_t connections, double seconds,
    double *requests_per_second);

/* Round trips at one socket with a short pause after each. `count` is the capacity for times, and then their number;
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
   each has its answer. `seconds` is the duration of the lines. Returns 0 or an errno value; ECANCELED if an answer is an error,
   which is printed on standard error. */
int load_in_storm(
    const char *path, const char *const *lines, size_t line_count, struct paced_load *first, struct paced_load *second,
    double *seconds);

/* A minimal provider: discovery, keys, and a token endpoint where people redeem refresh tokens that
   are valid once ("PERSON.0" the first). Serves until the process is killed; returns the errno value of the failed call. */
int provider_serve(
    uint16_t port, const char *discovery, const char *keys, const char *const *id_tokens, size_t people);

/* Posts forms with nothing but libcurl. Returns 0 or an errno value; EPROTO if an answer is not a success. */
int http_posts(const char *url, const char *const *forms, size_t count, double *seconds);

/* Lets a process, with all its threads, run on one core; -1 lets it run on all. Returns 0 or an errno value. */
int pin_process(int pid, int core);

/* Runs a program to its end, output thrown away. Returns 0, an errno value, or ECANCELED if it did not succeed. */
int time_program(const char *const *arguments, uint64_t *nanoseconds);

/* Starts a server, sends requests until its first answer, and ends it with SIGTERM. The time is from the start to that
   answer. Returns 0, an errno value, or ECANCELED if the server ended before. */
int time_first_answer(
    const char *const *arguments, const char *path, const uint8_t *request, size_t length, uint64_t *nanoseconds);

/* Asks the oidc-agent of $OIDC_SOCK for an account's token through its own library. Returns 0 or an errno value; ENOENT if the
   library is not installed. */
int agent_tokens(const char *account, size_t count, uint64_t *nanoseconds);
