#pragma once

/// Gives the kernel back what the heap no longer needs, and the pages of programs and libraries, which it still has in its file
/// cache: those that are needed come back as they are touched. No data is lost.
void broker_release_memory(void);
