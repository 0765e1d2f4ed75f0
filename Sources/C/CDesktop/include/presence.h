#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum broker_presence {
    BROKER_PRESENCE_SHOWN,
    /// Declined, given up, or not answered in time.
    BROKER_PRESENCE_NOT_SHOWN,
    /// A person would have to be asked, and no agent does that for the process.
    BROKER_PRESENCE_NOBODY_ASKS,
    BROKER_PRESENCE_UNAVAILABLE,
};

/// Has polkit ask the person behind a process to authenticate for an action, on the calling thread, for two minutes at most.
///
/// `message`: what the person reads, in which polkit fills in `$(caller)` and `$(app)`; null for the action's own text. Where
/// polkit takes none of us (it takes one from root and the action's owner), the action's own text is shown.
/// `started`: of the process, in clock ticks since boot (proc(5), stat, 22): polkit tells by it that the number is not another's.
/// `text`: why it is unavailable.
enum broker_presence broker_presence_ask(
    const char *action, pid_t process, uint64_t started, uid_t uid, const char *message, const char *caller,
    const char *app, char *text, size_t size);
