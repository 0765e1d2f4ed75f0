#pragma once

#include <stdbool.h>
#include <sys/types.h>

enum broker_login_event {
    /// The machine is about to sleep, and waits for the handler to return; no longer than logind's own limit.
    BROKER_LOGIN_SLEEPS,
    /// A session of the user was locked.
    BROKER_LOGIN_SCREEN_LOCKED,
};

typedef void (*broker_login_handler)(void *context, enum broker_login_event event);

/// Reports the events of logind (org.freedesktop.login1 on the system bus), on the calling thread, until the bus is lost. Returns
/// the errno of that.
///
/// Only logind's own signals count: the bus lets every program send signals that look like them.
int broker_login_watch(uid_t uid, bool wants_sleep, bool wants_lock, broker_login_handler handler, void *context);
