#pragma once

/// Gives the calling thread a table of descriptors of its own, with 0 to 2 only. Nothing is closed by this. Returns 0 or an errno
/// value.
int test_leave_descriptors(void);

/// For a thread that has left: one of its process's, for itself as well. Returns a descriptor, which no
/// program inherits, or minus an errno value.
int test_take_descriptor(int descriptor);
