#pragma once

// toml++ (C++, header only) behind the one C function that the configuration needs.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Text that is not terminated by NUL and may contain one.
typedef struct {
    const void *bytes;
    size_t count;
} toml_text;

typedef enum {
    TOML_STRING,
    /// An array of strings only.
    TOML_WORDS,
    TOML_OTHER_ARRAY,
    TOML_INTEGER,
    TOML_BOOLEAN,
    TOML_FRACTION,
    TOML_DATE_OR_TIME,
} toml_kind;

/// One `key = value`, in any table. Everything belongs to the parser and is invalid after the call.
typedef struct {
    /// The names of its tables, outermost first, and finally its own.
    const toml_text *path;
    size_t depth;
    /// The line of the key, counted from 1.
    uint32_t line;
    toml_kind kind;
    /// The string, or the strings of the array.
    const toml_text *words;
    size_t word_count;
    /// The integer; a boolean as 0 or 1.
    int64_t integer;
} toml_entry;

typedef struct {
    /// 0 if it is unknown.
    uint32_t line;
    /// The error, terminated by NUL, truncated if necessary.
    char message[256];
} toml_failure;

/// Reads a document and passes its entries to the caller, table by table.
///
/// - Returns: false if it is not TOML; then `failure` has the reason, and no entry was passed.
bool toml_read(
    toml_text document, void *context, void (*take)(void *context, const toml_entry *entry), toml_failure *failure);

#ifdef __cplusplus
}
#endif
