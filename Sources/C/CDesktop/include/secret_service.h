#pragma once

#include <stddef.h>

// One secret in the person's keyring, by the Secret Service (org.freedesktop.secrets) on the session bus. sd-bus' calls are
// variadic, which Swift does not have. Every call blocks, for some seconds at most, and asks nobody: a keyring that is
// locked stays so.

enum broker_secret_outcome {
    BROKER_SECRET_DONE,
    /// There is no session bus, or nothing on it has this service.
    BROKER_SECRET_NO_SERVICE,
    /// The keyring is locked.
    BROKER_SECRET_LOCKED,
    /// The keyring is open, and has no such secret.
    BROKER_SECRET_NOT_FOUND,
    BROKER_SECRET_FAILED,
};

/// What went wrong, for a person; ended by a zero byte.
struct broker_secret_error {
    char text[256];
};

/// Whether the service runs or can be started. Starts nothing.
enum broker_secret_outcome broker_secret_look(struct broker_secret_error *error);

/// Copies the secret named `id` into `buffer`; another length than `size` is a failure.
enum broker_secret_outcome broker_secret_read(
    const char *id, void *buffer, size_t size, struct broker_secret_error *error);

/// Puts the secret into the default keyring, in place of one of the same name.
enum broker_secret_outcome broker_secret_store(
    const char *id, const char *label, const void *bytes, size_t size, struct broker_secret_error *error);

enum broker_secret_outcome broker_secret_remove(const char *id, struct broker_secret_error *error);
