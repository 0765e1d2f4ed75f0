import Glibc

/// Threads in addition to those that Swift's tasks share: for blocking calls.
package enum DetachedThread {
    /// Runs `body` on a thread of its own that takes no signals: those are for the threads that handle them, and a `SIGPIPE` from
    /// a broken connection must not end the process.
    ///
    /// - Parameter body: the thread ends when it returns.
    /// - Returns: 0, or the `errno` if the system cannot start a thread.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Int32 {
        var all = sigset_t()
        var before = sigset_t()
        sigfillset(&all)
        pthread_sigmask(SIG_SETMASK, &all, &before)
        defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

        let boxed = Unmanaged.passRetained(Body(run: body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { argument in
                guard let argument else { return nil }
                Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            }, boxed.toOpaque())
        guard status == 0 else {
            boxed.release()
            return status
        }
        pthread_detach(thread)
        return 0
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
