#pragma once

/// Two heaps (arenas of malloc) for each core, for all threads together. glibc makes eight, and after a burst each keeps pages that a
/// few blocks hold. With one, threads wait for each other.
void broker_limit_heaps(void);

/// Gives the kernel back what the heap no longer needs, and the pages of programs and libraries, which it still has in its file
/// cache: those that are needed come back as they are touched. No data is lost.
void broker_release_memory(void);
