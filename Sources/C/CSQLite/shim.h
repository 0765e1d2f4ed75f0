#include <sqlite3.h>

// SQLite features that Swift cannot use: variadic functions, and a destructor constant that is a cast.

static inline int broker_sqlite3_config_flag(sqlite3 *db, int option, int on) {
    return sqlite3_db_config(db, option, on, (int *)0);
}

static inline int broker_sqlite3_bind_blob_copy(sqlite3_stmt *statement, int index, const void *bytes, int count) {
    return sqlite3_bind_blob(statement, index, bytes, count, SQLITE_TRANSIENT);
}

static inline int broker_sqlite3_bind_text_copy(sqlite3_stmt *statement, int index, const char *text, int count) {
    return sqlite3_bind_text(statement, index, text, count, SQLITE_TRANSIENT);
}

// The errno of the last failed call on the write-ahead log or else on the database file, 0 if there is none. sqlite3_system_errno
// has lost it if SQLite has cleaned up after the failure before it reports.
static inline int broker_sqlite3_file_errno(sqlite3 *db) {
    sqlite3_file *log = (sqlite3_file *)0;
    int number = 0;
    sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log);
    if (log && log->pMethods) log->pMethods->xFileControl(log, SQLITE_FCNTL_LAST_ERRNO, &number);
    if (number == 0) sqlite3_file_control(db, "main", SQLITE_FCNTL_LAST_ERRNO, &number);
    return number;
}
