#define _GNU_SOURCE
#include "events.h"

#include "direct.h"

#include <errno.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <unistd.h>

enum { MOST_AT_ONCE = 64 };

static int or_errno(int result) { return result >= 0 ? result : -errno; }

int broker_events_open(void) { return or_errno(epoll_create1(EPOLL_CLOEXEC)); }

int broker_events_open_wakeup(void) { return or_errno(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)); }

int broker_events_wake(int wakeup) { return or_errno(eventfd_write(wakeup, 1)); }

int broker_events_sleep_again(int wakeup) {
    eventfd_t count;
    return or_errno(eventfd_read(wakeup, &count));
}

int broker_events_open_alarm(void) {
    return or_errno(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
}

int broker_events_set_alarm(int alarm, int64_t nanoseconds) {
    // Zero would disarm it.
    if (nanoseconds < 1) nanoseconds = 1;
    struct itimerspec when = {.it_value = {.tv_sec = nanoseconds / 1000000000, .tv_nsec = nanoseconds % 1000000000}};
    return or_errno(timerfd_settime(alarm, TFD_TIMER_ABSTIME, &when, NULL));
}

static int control(int events, int operation, int descriptor, uint64_t token, uint32_t what) {
    struct epoll_event event = {
        .events = (what & BROKER_INPUT ? EPOLLIN : 0) | (what & BROKER_OUTPUT ? EPOLLOUT : 0),
        .data.u64 = token,
    };
    return or_errno(epoll_ctl(events, operation, descriptor, &event));
}

int broker_events_watch(int events, int descriptor, uint64_t token, uint32_t what) {
    return control(events, EPOLL_CTL_ADD, descriptor, token, what);
}

int broker_events_change(int events, int descriptor, uint64_t token, uint32_t what) {
    return control(events, EPOLL_CTL_MOD, descriptor, token, what);
}

int broker_events_forget(int events, int descriptor) { return control(events, EPOLL_CTL_DEL, descriptor, 0, 0); }

int broker_events_wait(int events, struct broker_event *found, int most, int returns_at_once) {
    struct epoll_event raw[MOST_AT_ONCE];
    int count = direct_epoll_wait(events, raw, most < MOST_AT_ONCE ? most : MOST_AT_ONCE, returns_at_once ? 0 : -1);
    if (count < 0) return -errno;
    for (int i = 0; i < count; i++) {
        found[i].token = raw[i].data.u64;
        found[i].what = (raw[i].events & EPOLLIN ? BROKER_INPUT : 0) | (raw[i].events & EPOLLOUT ? BROKER_OUTPUT : 0)
            | (raw[i].events & (EPOLLHUP | EPOLLERR) ? BROKER_GONE : 0);
    }
    return count;
}
