#pragma once

#include <stdint.h>

// Waiting for many descriptors (epoll(7)), whose event type is packed and whose header Swift does not see.
// Every function returns 0 or more, or minus an errno value.

enum {
    BROKER_INPUT = 1,
    BROKER_OUTPUT = 2,
    /// The other end is gone, in both directions.
    BROKER_GONE = 4,
};

struct broker_event {
    /// What the descriptor was watched by.
    uint64_t token;
    uint32_t what;
};

/// A new descriptor to wait on.
int broker_events_open(void);

/// A descriptor that ``broker_events_wake`` makes ready to read, from any thread.
int broker_events_open_wakeup(void);
int broker_events_wake(int wakeup);
int broker_events_sleep_again(int wakeup);

/// `what`: BROKER_INPUT and BROKER_OUTPUT, or neither; that the other end is gone is always told.
int broker_events_watch(int events, int descriptor, uint64_t token, uint32_t what);
int broker_events_change(int events, int descriptor, uint64_t token, uint32_t what);
int broker_events_forget(int events, int descriptor);

/// Fills `found` with at most `most` events, after at most `milliseconds`; -1 waits without an end. Returns their number.
int broker_events_wait(int events, struct broker_event *found, int most, int milliseconds);

/// Of those that the calling thread may run on.
int broker_usable_cores(void);
