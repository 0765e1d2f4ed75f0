#pragma once

/// Returns unused heap memory to the kernel, and the pages of programs and libraries, which are still in its file cache: they
/// come back when they are used. No data is lost.
void broker_release_memory(void);
