import Glibc
import Synchronization

/// Threads that ask get numbers, one after the other from 0, and keep them: for what each is to have by itself.
package enum ThreadNumber {
    /// 0 where the system has no more room for what belongs to a thread.
    package static var current: Int {
        guard let key else { return 0 }
        // One more, because nothing is there at first.
        if let known = pthread_getspecific(key) { return Int(bitPattern: known) - 1 }
        let number = next.add(1, ordering: .relaxed).oldValue
        pthread_setspecific(key, UnsafeRawPointer(bitPattern: number + 1))
        return number
    }

    private static let next = Atomic<Int>(0)

    private static let key: pthread_key_t? = {
        var key = pthread_key_t()
        return pthread_key_create(&key, nil) == 0 ? key : nil
    }()
}
