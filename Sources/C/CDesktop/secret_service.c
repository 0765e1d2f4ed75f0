#include "include/secret_service.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-bus.h>

static const char service[] = "org.freedesktop.secrets";
static const char root[] = "/org/freedesktop/secrets";
static const char service_interface[] = "org.freedesktop.Secret.Service";
static const char collection_interface[] = "org.freedesktop.Secret.Collection";
static const char item_interface[] = "org.freedesktop.Secret.Item";
/// Attributes are not secret: every program of the person may read them, also while the keyring is locked.
static const char schema[] = "token-broker.VaultKey";
static const uint64_t patience = 5 * 1000 * 1000;

static enum broker_secret_outcome fail(
    struct broker_secret_error *error, int code, const sd_bus_error *told) {
    const char *text = told && told->message ? told->message : strerror(-code);
    snprintf(error->text, sizeof error->text, "%s", text);
    if (told && (sd_bus_error_has_name(told, SD_BUS_ERROR_SERVICE_UNKNOWN)
                 || sd_bus_error_has_name(told, SD_BUS_ERROR_NAME_HAS_NO_OWNER)))
        return BROKER_SECRET_NO_SERVICE;
    if (told && told->name && strstr(told->name, ".IsLocked")) return BROKER_SECRET_LOCKED;
    return BROKER_SECRET_FAILED;
}

static int connect_bus(sd_bus **bus) {
    int code = sd_bus_open_user(bus);
    if (code < 0) return code;
    return sd_bus_set_method_call_timeout(*bus, patience);
}

static bool is_activatable(sd_bus *bus) {
    char **names = NULL;
    if (sd_bus_list_names(bus, NULL, &names) < 0) return false;
    bool found = false;
    for (char **name = names; name && *name; name++) {
        if (strcmp(*name, service) == 0) found = true;
        free(*name);
    }
    free(names);
    return found;
}

enum broker_secret_outcome broker_secret_look(struct broker_secret_error *error) {
    sd_bus *bus = NULL;
    int code = connect_bus(&bus);
    if (code < 0) {
        fail(error, code, NULL);
        return BROKER_SECRET_NO_SERVICE;
    }
    bool found = sd_bus_get_name_creds(bus, service, 0, NULL) >= 0 || is_activatable(bus);
    sd_bus_flush_close_unref(bus);
    if (found) return BROKER_SECRET_DONE;
    snprintf(error->text, sizeof error->text, "no program offers %s", service);
    return BROKER_SECRET_NO_SERVICE;
}

/// The path of the item; NULL in `*item` when there is none. Items of a locked keyring are found as well.
static int find(sd_bus *bus, const char *id, char **item, bool *is_locked, sd_bus_error *told) {
    sd_bus_message *answer = NULL;
    int code = sd_bus_call_method(
        bus, service, root, service_interface, "SearchItems", told, &answer, "a{ss}", 2, "xdg:schema", schema, "vault",
        id);
    *item = NULL;
    for (int locked = 0; code >= 0 && locked < 2; locked++) {
        code = sd_bus_message_enter_container(answer, 'a', "o");
        const char *path;
        while (code >= 0 && (code = sd_bus_message_read(answer, "o", &path)) > 0) {
            if (*item) continue;
            *item = strdup(path);
            *is_locked = locked;
        }
        if (code >= 0) code = sd_bus_message_exit_container(answer);
    }
    sd_bus_message_unref(answer);
    return code;
}

static int open_session(sd_bus *bus, char **session, sd_bus_error *told) {
    sd_bus_message *answer = NULL;
    const char *path;
    // Not encrypted: what travels is seen by those who may ask for it as well (docs/decisions/0043).
    int code = sd_bus_call_method(
        bus, service, root, service_interface, "OpenSession", told, &answer, "sv", "plain", "s", "");
    if (code >= 0) code = sd_bus_message_read(answer, "vo", "s", NULL, &path);
    if (code >= 0) *session = strdup(path);
    sd_bus_message_unref(answer);
    return code;
}

/// The default keyring; "/" when there is none.
static int default_keyring(sd_bus *bus, char **keyring, int *is_locked, sd_bus_error *told) {
    sd_bus_message *answer = NULL;
    const char *path;
    int code = sd_bus_call_method(bus, service, root, service_interface, "ReadAlias", told, &answer, "s", "default");
    if (code >= 0) code = sd_bus_message_read(answer, "o", &path);
    if (code >= 0) *keyring = strdup(path);
    sd_bus_message_unref(answer);
    *is_locked = 0;
    if (code >= 0 && strcmp(*keyring, "/") != 0)
        code = sd_bus_get_property_trivial(bus, service, *keyring, collection_interface, "Locked", told, 'b', is_locked);
    return code;
}

enum broker_secret_outcome broker_secret_read(
    const char *id, void *buffer, size_t size, struct broker_secret_error *error) {
    sd_bus *bus = NULL;
    sd_bus_error told = SD_BUS_ERROR_NULL;
    char *item = NULL, *session = NULL, *keyring = NULL;
    bool is_locked = false;
    int keyring_locked = 0;
    sd_bus_message *answer = NULL;
    enum broker_secret_outcome outcome = BROKER_SECRET_DONE;
    int code = connect_bus(&bus);
    if (code < 0) {
        fail(error, code, NULL);
        return BROKER_SECRET_NO_SERVICE;
    }
    code = find(bus, id, &item, &is_locked, &told);
    if (code >= 0 && !item) {
        // Some keyrings hide their items while they are locked.
        code = default_keyring(bus, &keyring, &keyring_locked, &told);
        if (code >= 0) outcome = keyring_locked ? BROKER_SECRET_LOCKED : BROKER_SECRET_NOT_FOUND;
        goto end;
    }
    if (code >= 0 && is_locked) {
        outcome = BROKER_SECRET_LOCKED;
        goto end;
    }
    if (code >= 0) code = open_session(bus, &session, &told);
    if (code >= 0)
        code = sd_bus_call_method(bus, service, item, item_interface, "GetSecret", &told, &answer, "o", session);
    if (code >= 0) code = sd_bus_message_sensitive(answer);
    if (code >= 0) code = sd_bus_message_enter_container(answer, 'r', "oayays");
    if (code >= 0) code = sd_bus_message_skip(answer, "oay");
    const void *bytes = NULL;
    size_t count = 0;
    if (code >= 0) code = sd_bus_message_read_array(answer, 'y', &bytes, &count);
    if (code >= 0 && count != size) {
        snprintf(error->text, sizeof error->text, "the secret has %zu bytes instead of %zu", count, size);
        outcome = BROKER_SECRET_FAILED;
        goto end;
    }
    if (code >= 0) memcpy(buffer, bytes, size);
end:
    if (code < 0) outcome = fail(error, code, &told);
    sd_bus_error_free(&told);
    sd_bus_message_unref(answer);
    free(item);
    free(session);
    free(keyring);
    sd_bus_flush_close_unref(bus);
    return outcome;
}

static int append_item(
    sd_bus_message *call, const char *session, const char *id, const char *label, const void *bytes, size_t size) {
    int code = sd_bus_message_append(
        call, "a{sv}", 2, "org.freedesktop.Secret.Item.Label", "s", label, "org.freedesktop.Secret.Item.Attributes",
        "a{ss}", 2, "xdg:schema", schema, "vault", id);
    if (code >= 0) code = sd_bus_message_open_container(call, 'r', "oayays");
    if (code >= 0) code = sd_bus_message_append(call, "o", session);
    if (code >= 0) code = sd_bus_message_append_array(call, 'y', NULL, 0);
    if (code >= 0) code = sd_bus_message_append_array(call, 'y', bytes, size);
    if (code >= 0) code = sd_bus_message_append(call, "s", "application/octet-stream");
    if (code >= 0) code = sd_bus_message_close_container(call);
    if (code >= 0) code = sd_bus_message_append(call, "b", 1);
    return code;
}

enum broker_secret_outcome broker_secret_store(
    const char *id, const char *label, const void *bytes, size_t size, struct broker_secret_error *error) {
    sd_bus *bus = NULL;
    sd_bus_error told = SD_BUS_ERROR_NULL;
    char *session = NULL, *keyring = NULL;
    int is_locked = 0;
    sd_bus_message *call = NULL, *answer = NULL;
    enum broker_secret_outcome outcome = BROKER_SECRET_DONE;
    int code = connect_bus(&bus);
    if (code < 0) {
        fail(error, code, NULL);
        return BROKER_SECRET_NO_SERVICE;
    }
    code = default_keyring(bus, &keyring, &is_locked, &told);
    if (code >= 0 && strcmp(keyring, "/") == 0) {
        snprintf(error->text, sizeof error->text, "there is no default keyring; make one with your desktop's key manager");
        outcome = BROKER_SECRET_FAILED;
        goto end;
    }
    if (code >= 0 && is_locked) {
        outcome = BROKER_SECRET_LOCKED;
        goto end;
    }
    if (code >= 0) code = open_session(bus, &session, &told);
    if (code >= 0)
        code = sd_bus_message_new_method_call(bus, &call, service, keyring, collection_interface, "CreateItem");
    if (code >= 0) code = sd_bus_message_sensitive(call);
    if (code >= 0) code = append_item(call, session, id, label, bytes, size);
    if (code >= 0) code = sd_bus_call(bus, call, patience, &told, &answer);
    const char *item = NULL, *prompt = NULL;
    if (code >= 0) code = sd_bus_message_read(answer, "oo", &item, &prompt);
    if (code >= 0 && strcmp(prompt, "/") != 0) outcome = BROKER_SECRET_LOCKED;
end:
    if (code < 0) outcome = fail(error, code, &told);
    sd_bus_error_free(&told);
    sd_bus_message_unref(call);
    sd_bus_message_unref(answer);
    free(session);
    free(keyring);
    sd_bus_flush_close_unref(bus);
    return outcome;
}

enum broker_secret_outcome broker_secret_remove(const char *id, struct broker_secret_error *error) {
    sd_bus *bus = NULL;
    sd_bus_error told = SD_BUS_ERROR_NULL;
    char *item = NULL;
    bool is_locked = false;
    int code = connect_bus(&bus);
    if (code < 0) {
        fail(error, code, NULL);
        return BROKER_SECRET_NO_SERVICE;
    }
    code = find(bus, id, &item, &is_locked, &told);
    if (code >= 0 && item)
        code = sd_bus_call_method(bus, service, item, item_interface, "Delete", &told, NULL, NULL);
    enum broker_secret_outcome outcome =
        code < 0 ? fail(error, code, &told) : item ? BROKER_SECRET_DONE : BROKER_SECRET_NOT_FOUND;
    sd_bus_error_free(&told);
    free(item);
    sd_bus_flush_close_unref(bus);
    return outcome;
}
