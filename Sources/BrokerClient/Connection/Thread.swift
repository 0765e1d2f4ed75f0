import Glibc

/// Runs `body` on a detached thread of its own that takes no signals: those are the application's to handle.
///
/// - Parameter body: what to do; the thread ends with it.
/// - Throws: ``ConnectFailure/system(errno:)`` when the system has no thread to spare.
package func startThread(_ body: @escaping @Sendable () -> Void) throws(ConnectFailure) {
    var all = sigset_t()
    var before = sigset_t()
    sigfillset(&all)
    pthread_sigmask(SIG_SETMASK, &all, &before)
    defer { pthread_sigmask(SIG_SETMASK, &before, nil) }

    let boxed = Unmanaged.passRetained(ThreadBody(run: body))
    var thread = pthread_t()
    let status = pthread_create(
        &thread, nil,
        { argument in
            guard let argument else { return nil }
            Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
            return nil
        }, boxed.toOpaque())
    guard status == 0 else {
        boxed.release()
        throw .system(errno: status)
    }
    pthread_detach(thread)
}

private final class ThreadBody: Sendable {
    let run: @Sendable () -> Void
    init(run: @escaping @Sendable () -> Void) { self.run = run }
}
