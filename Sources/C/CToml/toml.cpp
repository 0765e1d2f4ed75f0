#include "CToml.h"

#include <cstdio>
#include <string_view>
#include <vector>

// A syntax error is a result here, not an exception: nothing may unwind into the caller.
#define TOML_EXCEPTIONS 0
#define TOML_ENABLE_FORMATTERS 0

// The parser asserts conditions (or relies on them without assertions) that some texts violate ("[[[[" in version 3.3): a mistake
// in a file must not end the program.
namespace {
struct Unreadable {};
[[noreturn]] void give_up() { throw Unreadable{}; }
}  // namespace
#undef NDEBUG
#define TOML_ASSERT(condition) (static_cast<bool>(condition) ? void() : give_up())
#include <toml++/toml.h>

namespace {

toml_text text(std::string_view view) { return {view.data(), view.size()}; }

struct Reader {
    void *context;
    void (*take)(void *, const toml_entry *);
    std::vector<toml_text> path;

    void read(const toml::table &table) {
        for (const auto &[key, node] : table) {
            path.push_back(text(key.str()));
            if (const auto *inner = node.as_table()) {
                read(*inner);
            } else {
                hand_out(key, node);
            }
            path.pop_back();
        }
    }

    void hand_out(const toml::key &key, const toml::node &node) {
        std::vector<toml_text> words;
        toml_entry entry = {path.data(), path.size(), key.source().begin.line, TOML_DATE_OR_TIME, nullptr, 0, 0};
        if (const auto *string = node.as_string()) {
            entry.kind = TOML_STRING;
            words.push_back(text(string->get()));
        } else if (const auto *array = node.as_array()) {
            for (const auto &element : *array) {
                if (const auto *word = element.as_string()) words.push_back(text(word->get()));
            }
            entry.kind = words.size() == array->size() ? TOML_WORDS : TOML_OTHER_ARRAY;
        } else if (const auto *integer = node.as_integer()) {
            entry.kind = TOML_INTEGER;
            entry.integer = integer->get();
        } else if (const auto *boolean = node.as_boolean()) {
            entry.kind = TOML_BOOLEAN;
            entry.integer = boolean->get();
        } else if (node.is_floating_point()) {
            entry.kind = TOML_FRACTION;
        }
        entry.words = words.data();
        entry.word_count = words.size();
        take(context, &entry);
    }
};

bool read_document(
    toml_text document, void *context, void (*take)(void *context, const toml_entry *entry),
    toml_failure *failure) {
    const auto result = toml::parse(std::string_view{static_cast<const char *>(document.bytes), document.count});
    if (!result) {
        const auto &error = result.error();
        const auto description = error.description();
        failure->line = error.source().begin.line;
        std::snprintf(
            failure->message, sizeof failure->message, "%.*s", static_cast<int>(description.size()),
            description.data());
        return false;
    }
    Reader{context, take, {}}.read(result.table());
    return true;
}

}  // namespace

bool toml_read(
    toml_text document, void *context, void (*take)(void *context, const toml_entry *entry), toml_failure *failure) {
    // Only the parser throws; callbacks return to frames that are not C++.
    try {
        return read_document(document, context, take, failure);
    } catch (const Unreadable &) {
        failure->line = 0;
        std::snprintf(failure->message, sizeof failure->message, "the parser cannot say where; a bracket may be too many");
        return false;
    }
}
