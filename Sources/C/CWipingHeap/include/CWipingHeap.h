#pragma once

// A program that links this wipes every block of its heap when it is given back, whoever gives it back: libcurl, SQLite and
// Swift's own strings and arrays leave nothing behind. There is nothing to call.
