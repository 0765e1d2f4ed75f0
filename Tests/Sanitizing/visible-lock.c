/* Linked into each program that the thread sanitizer watches. What one thread did before it unlocked a Mutex of Swift's
   Synchronization, the next one sees after it locked: the sanitizer knows that of the fast paths, which are compiled into the
   program, and not of the slow ones, where the kernel passes the lock on (futex(2), FUTEX_LOCK_PI). They are in
   libswiftSynchronization, which is not watched; these wrappers announce them. Without them each contended lock
   looks like a race. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <sanitizer/tsan_interface.h>
#include <stdint.h>
#include <stdlib.h>

#define LOCK_SLOW "$s15Synchronization12_MutexHandleV9_lockSlowyys6UInt32VF"
#define TRY_LOCK_SLOW "$s15Synchronization12_MutexHandleV12_tryLockSlowSbyF"
#define UNLOCK_SLOW "$s15Synchronization12_MutexHandleV11_unlockSlowyyF"

/* A method's self is passed in a separate register. */
#define METHOD __attribute__((swiftcall))
#define SELF __attribute__((swift_context)) void *lock

METHOD void lock_slow(uint32_t thread, SELF) __asm__(LOCK_SLOW);
METHOD _Bool try_lock_slow(SELF) __asm__(TRY_LOCK_SLOW);
METHOD void unlock_slow(SELF) __asm__(UNLOCK_SLOW);

static void *next(const char *symbol) {
    void *found = dlsym(RTLD_NEXT, symbol);
    if (!found) abort();
    return found;
}

METHOD void lock_slow(uint32_t thread, SELF) {
    METHOD void (*real)(uint32_t, SELF) = (__typeof__(real))next(LOCK_SLOW);
    real(thread, lock);
    __tsan_acquire(lock);
}

METHOD _Bool try_lock_slow(SELF) {
    METHOD _Bool (*real)(SELF) = (__typeof__(real))next(TRY_LOCK_SLOW);
    _Bool locked = real(lock);
    if (locked) __tsan_acquire(lock);
    return locked;
}

METHOD void unlock_slow(SELF) {
    METHOD void (*real)(SELF) = (__typeof__(real))next(UNLOCK_SLOW);
    __tsan_release(lock);
    real(lock);
}
