#include "include/presence.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>

static const char service[] = "org.freedesktop.PolicyKit1";
static const char path[] = "/org/freedesktop/PolicyKit1/Authority";
static const char interface[] = "org.freedesktop.PolicyKit1.Authority";
static const uint64_t patience = 120 * 1000 * 1000;
/// AllowUserInteraction
static const uint32_t asks_person = 1;

static int append_subject(sd_bus_message *call, pid_t process, uint64_t started, uid_t uid) {
    // The uid is included, and signed: otherwise polkit would look it up by the process id.
    return sd_bus_message_append(
        call, "(sa{sv})", "unix-process", 3, "pid", "u", (uint32_t)process, "start-time", "t", started, "uid", "i",
        (int32_t)uid);
}

static int append_details(sd_bus_message *call, const char *message, const char *caller, const char *app) {
    if (!message) return sd_bus_message_append(call, "a{ss}", 0);
    return sd_bus_message_append(call, "a{ss}", 3, "polkit.message", message, "caller", caller, "app", app);
}

/// The action, and the process that asks.
struct question {
    const char *action;
    pid_t process;
    uint64_t started;
    uid_t uid;
    const char *caller, *app;
};

static int check(
    sd_bus *bus, const struct question *asked, const char *message, sd_bus_error *told, sd_bus_message **answer) {
    sd_bus_message *call = NULL;
    int code = sd_bus_message_new_method_call(bus, &call, service, path, interface, "CheckAuthorization");
    if (code >= 0) code = append_subject(call, asked->process, asked->started, asked->uid);
    if (code >= 0) code = sd_bus_message_append(call, "s", asked->action);
    if (code >= 0) code = append_details(call, message, asked->caller, asked->app);
    if (code >= 0) code = sd_bus_message_append(call, "us", asks_person, "");
    if (code >= 0) code = sd_bus_call(bus, call, patience, told, answer);
    sd_bus_message_unref(call);
    return code;
}

enum broker_presence broker_presence_ask(
    const char *action, pid_t process, uint64_t started, uid_t uid, const char *message, const char *caller,
    const char *app, char *text, size_t size) {
    struct question asked = {action, process, started, uid, caller, app};
    sd_bus *bus = NULL;
    sd_bus_message *answer = NULL;
    sd_bus_error told = SD_BUS_ERROR_NULL;
    int is_authorized = false, is_challenge = false;
    int code = sd_bus_open_system(&bus);
    if (code >= 0) code = check(bus, &asked, message, &told, &answer);
    if (message && sd_bus_error_has_name(&told, "org.freedesktop.PolicyKit1.Error.NotAuthorized")) {
        sd_bus_error_free(&told);
        code = check(bus, &asked, NULL, &told, &answer);
    }
    if (code >= 0) code = sd_bus_message_enter_container(answer, 'r', "bba{ss}");
    if (code >= 0) code = sd_bus_message_read(answer, "bb", &is_authorized, &is_challenge);
    enum broker_presence presence = BROKER_PRESENCE_NOT_SHOWN;
    if (code == -ETIMEDOUT || sd_bus_error_has_name(&told, SD_BUS_ERROR_NO_REPLY)) {
        presence = BROKER_PRESENCE_NOT_SHOWN;
    } else if (code < 0) {
        snprintf(text, size, "%s", told.message ? told.message : strerror(-code));
        presence = BROKER_PRESENCE_UNAVAILABLE;
    } else if (is_authorized) {
        presence = BROKER_PRESENCE_SHOWN;
    } else if (is_challenge) {
        presence = BROKER_PRESENCE_NOBODY_ASKS;
    }
    sd_bus_error_free(&told);
    sd_bus_message_unref(answer);
    sd_bus_flush_close_unref(bus);
    return presence;
}
