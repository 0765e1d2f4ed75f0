#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum broker_presence {
    BROKER_PRESENCE_SHOWN,
    /// Declined, cancelled, or not answered in time.
    BROKER_PRESENCE_NOT_SHOWN,
    /// The user would have to be asked, and no agent is available for the process.
    BROKER_PRESENCE_NOBODY_ASKS,
    BROKER_PRESENCE_UNAVAILABLE,
};

/// Lets polkit ask the user of a process to authenticate for an action, on the calling thread, for two minutes at most.
///
/// `message`: the text for the user, in which polkit replaces `$(caller)` and `$(app)`; null for the action's own text. If polkit
/// accepts none from us (it accepts one from root and the action's owner), it shows the action's own text.
/// `started`: when the process started, in clock ticks since boot (proc(5), stat, 22): polkit uses it to detect a reused process
/// id.
/// `text`: why it is unavailable.
enum broker_presence broker_presence_ask(
    const char *action, pid_t process, uint64_t started, uid_t uid, const char *message, const char *caller,
    const char *app, char *text, size_t size);
