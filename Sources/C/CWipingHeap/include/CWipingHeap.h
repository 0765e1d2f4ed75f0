#pragma once

// A program that links this wipes every heap block when it is freed, by any code: libcurl, SQLite and Swift's own strings and
// arrays leave nothing behind. There is nothing to call.
