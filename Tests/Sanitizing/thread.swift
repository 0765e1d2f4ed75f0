import Dispatch
import Glibc
import Synchronization

// What the thread sanitizer must not report, a value behind a lock that others wait for; and with an argument what it must
// report, a value behind none. `run` begins with it: another version of the language may have another lock.

/// Unchecked, because the sanitizer is to find what is wrong with it.
final class Shared: @unchecked Sendable {
    let locked = Mutex(0)
    var unlocked = 0
}

let shared = Shared()
let isRacing = CommandLine.arguments.count > 1
DispatchQueue.concurrentPerform(iterations: 4) { _ in
    for _ in 0..<20_000 {
        shared.locked.withLock { value in
            value += 1
            if value % 64 == 0 { sched_yield() }
        }
        if isRacing { shared.unlocked += 1 }
    }
}
