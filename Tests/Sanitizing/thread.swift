import Dispatch
import Glibc
import Synchronization

// A case that the thread sanitizer must not report, a value behind a contended lock; and with an argument one that it must
// report, a value without a lock. `run` begins with it: another version of the language may have another lock.

/// Unchecked, so that the sanitizer can find the race.
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
