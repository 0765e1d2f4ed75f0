#include "include/login.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

static const char service[] = "org.freedesktop.login1";
static const char path[] = "/org/freedesktop/login1";
static const char manager[] = "org.freedesktop.login1.Manager";
static const char session[] = "org.freedesktop.login1.Session";

struct watch {
    uid_t uid;
    bool wants_sleep;
    broker_login_handler handler;
    void *context;
    sd_bus *bus;
    /// logind's unique name on the bus; empty while it is not running.
    char owner[256];
    /// The inhibitor lock: while it is open, the machine waits before it sleeps; -1 if there is none.
    int delay;
};

static void find_owner(struct watch *watch) {
    sd_bus_creds *creds = NULL;
    const char *name = NULL;
    watch->owner[0] = 0;
    if (sd_bus_get_name_creds(watch->bus, service, SD_BUS_CREDS_UNIQUE_NAME, &creds) >= 0
        && sd_bus_creds_get_unique_name(creds, &name) >= 0)
        snprintf(watch->owner, sizeof watch->owner, "%s", name);
    sd_bus_creds_unref(creds);
}

static bool is_logind(struct watch *watch, sd_bus_message *message) {
    const char *sender = sd_bus_message_get_sender(message);
    return sender && watch->owner[0] && strcmp(sender, watch->owner) == 0;
}

static void release(struct watch *watch) {
    if (watch->delay >= 0) close(watch->delay);
    watch->delay = -1;
}

/// Taken before the machine sleeps: at that moment it would be too late.
static void delay_sleep(struct watch *watch) {
    sd_bus_message *answer = NULL;
    int descriptor;
    release(watch);
    if (!watch->wants_sleep) return;
    int code = sd_bus_call_method(
        watch->bus, service, path, manager, "Inhibit", NULL, &answer, "ssss", "sleep", "Token broker",
        "Dropping keys from memory", "delay");
    if (code >= 0 && sd_bus_message_read(answer, "h", &descriptor) > 0)
        watch->delay = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
    sd_bus_message_unref(answer);
}

static int on_sleep(sd_bus_message *message, void *userdata, sd_bus_error *error) {
    (void)error;
    struct watch *watch = userdata;
    int begins;
    if (!is_logind(watch, message) || sd_bus_message_read(message, "b", &begins) < 0) return 0;
    if (begins) {
        watch->handler(watch->context, BROKER_LOGIN_SLEEPS);
        release(watch);
    } else {
        delay_sleep(watch);
    }
    return 0;
}

/// Whether the session of a signal belongs to the user.
static bool is_own(struct watch *watch, sd_bus_message *message) {
    sd_bus_message *answer = NULL;
    uint32_t uid = UINT32_MAX;
    const char *object;
    int code = sd_bus_get_property(
        watch->bus, service, sd_bus_message_get_path(message), session, "User", NULL, &answer, "(uo)");
    if (code >= 0) code = sd_bus_message_read(answer, "(uo)", &uid, &object);
    sd_bus_message_unref(answer);
    return code >= 0 && uid == watch->uid;
}

static int on_lock(sd_bus_message *message, void *userdata, sd_bus_error *error) {
    (void)error;
    struct watch *watch = userdata;
    if (is_logind(watch, message) && is_own(watch, message))
        watch->handler(watch->context, BROKER_LOGIN_SCREEN_LOCKED);
    return 0;
}

/// Lock asks the desktop to lock; LockedHint reports that it has locked, for whatever reason.
static int on_properties(sd_bus_message *message, void *userdata, sd_bus_error *error) {
    (void)error;
    struct watch *watch = userdata;
    const char *interface, *name;
    if (!is_logind(watch, message) || sd_bus_message_read(message, "s", &interface) < 0
        || strcmp(interface, session) != 0 || sd_bus_message_enter_container(message, 'a', "{sv}") < 0)
        return 0;
    while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
        int is_locked = 0;
        if (sd_bus_message_read(message, "s", &name) < 0) return 0;
        if (strcmp(name, "LockedHint") == 0) {
            if (sd_bus_message_read(message, "v", "b", &is_locked) < 0) return 0;
        } else if (sd_bus_message_skip(message, "v") < 0) {
            return 0;
        }
        sd_bus_message_exit_container(message);
        if (is_locked && is_own(watch, message)) watch->handler(watch->context, BROKER_LOGIN_SCREEN_LOCKED);
    }
    return 0;
}

static int on_owner(sd_bus_message *message, void *userdata, sd_bus_error *error) {
    (void)error;
    struct watch *watch = userdata;
    const char *sender = sd_bus_message_get_sender(message);
    if (!sender || strcmp(sender, "org.freedesktop.DBus") != 0) return 0;
    find_owner(watch);
    if (watch->owner[0]) delay_sleep(watch);
    return 0;
}

int broker_login_watch(uid_t uid, bool wants_sleep, bool wants_lock, broker_login_handler handler, void *context) {
    struct watch watch = {.uid = uid, .wants_sleep = wants_sleep, .handler = handler, .context = context, .delay = -1};
    int code = sd_bus_open_system(&watch.bus);
    if (code < 0) return -code;
    code = sd_bus_match_signal(
        watch.bus, NULL, "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus", "NameOwnerChanged",
        on_owner, &watch);
    if (code >= 0 && wants_sleep)
        code = sd_bus_match_signal(watch.bus, NULL, service, path, manager, "PrepareForSleep", on_sleep, &watch);
    if (code >= 0 && wants_lock)
        code = sd_bus_match_signal(watch.bus, NULL, service, NULL, session, "Lock", on_lock, &watch);
    if (code >= 0 && wants_lock)
        code = sd_bus_match_signal(
            watch.bus, NULL, service, NULL, "org.freedesktop.DBus.Properties", "PropertiesChanged", on_properties,
            &watch);
    find_owner(&watch);
    if (watch.owner[0]) delay_sleep(&watch);
    while (code >= 0) {
        code = sd_bus_process(watch.bus, NULL);
        if (code == 0) code = sd_bus_wait(watch.bus, UINT64_MAX);
        if (code == -EINTR) code = 0;
    }
    release(&watch);
    sd_bus_flush_close_unref(watch.bus);
    return -code;
}
