#pragma once

/// Gives the kernel back the heap's free pages.
void broker_release_memory(void);
