#pragma once

// toml++ (C++, header only) behind the one C function that the configuration needs.

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Text that is not ended by NUL and may hold one.
typedef struct {
    const void *bytes;
    size_t count;
} toml_text;

typedef enum {
    TOML_STRING,
    /// An array of nothing but strings.
    TOML_WORDS,
    TOML_OTHER_ARRAY,
    TOML_INTEGER,
    TOML_BOOLEAN,
    TOML_FRACTION,
    TOML_DATE_OR_TIME,
} toml_kind;

/// One `key = value`, wherever its table stands. Everything is the parser's and gone when the call is over.
typedef struct {
    /// The names of the tables around it, outermost first, and at last its own.
    const toml_text *path;
    size_t depth;
    /// Where the key stands, counted from 1.
    uint32_t line;
    toml_kind kind;
    /// The string, or the strings of the array.
    const toml_text *words;
    size_t word_count;
    /// The integer; a boolean as 0 or 1.
    int64_t integer;
} toml_entry;

typedef struct {
    /// 0 where it is not known.
    uint32_t line;
    /// What is wrong, ended by NUL, cut if it must be.
    char message[256];
} toml_failure;

/// Reads a document and hands its entries out, table by table.
///
/// - Returns: false when it is not TOML; then `failure` says why, and nothing was handed out.
bool toml_read(
    toml_text document, void *context, void (*take)(void *context, const toml_entry *entry), toml_failure *failure);

#ifdef __cplusplus
}
#endif
