#pragma once

/// For a thread with a table of descriptors of its own: one of its process's. Returns a descriptor, which no program inherits, or
/// minus an errno value.
int test_take_descriptor(int descriptor);
