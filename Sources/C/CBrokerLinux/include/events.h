#pragma once

#include <stdint.h>

// Waiting for many descriptors (epoll(7)), whose event type is packed and whose header Swift does not see.
// Every function returns 0 or more, or minus an errno value.

enum {
    BROKER_INPUT = 1,
    BROKER_OUTPUT = 2,
    /// The other end has closed both directions.
    BROKER_GONE = 4,
};

struct broker_event {
    /// The token of the watched descriptor.
    uint64_t token;
    uint32_t what;
};

/// A new descriptor to wait on.
int broker_events_open(void);

/// A descriptor that ``broker_events_wake`` makes readable, from any thread.
int broker_events_open_wakeup(void);
int broker_events_wake(int wakeup);
int broker_events_sleep_again(int wakeup);

/// A descriptor that is readable once a time of CLOCK_MONOTONIC is reached, until it is set again. A time-out of the wait itself
/// would be armed and disarmed each time, which takes longer than the wait.
int broker_events_open_alarm(void);
int broker_events_set_alarm(int alarm, int64_t nanoseconds);

/// Begins, changes or ends waiting for a descriptor. `what` is BROKER_INPUT, BROKER_OUTPUT, both or neither; a hang-up is always
/// reported.
int broker_events_watch(int events, int descriptor, uint64_t token, uint32_t what);
int broker_events_change(int events, int descriptor, uint64_t token, uint32_t what);
int broker_events_forget(int events, int descriptor);

/// Fills `found` with at most `most` events, and waits for the first one unless it `returns_at_once`. Returns their number.
int broker_events_wait(int events, struct broker_event *found, int most, int returns_at_once);
