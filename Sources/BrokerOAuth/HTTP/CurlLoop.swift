import BrokerSystem
import BrokerValues
import CCurl
import Synchronization

/// The single thread that drives all transfers of a client.
///
/// libcurl's multi interface may be used by one thread at a time, and blocks in `curl_multi_poll` while it waits. So it
/// gets a thread of its own instead of one of the few threads of Swift's pool. Others leave submissions and
/// cancellations in a mailbox and wake it (`curl_multi_wakeup`, the one call that is safe from any thread).
final class CurlLoop: Sendable {
    /// `@unchecked Sendable`: apart from `curl_multi_wakeup`, which is called under the mailbox's lock and only while
    /// the handle is in it, only the loop's thread uses the pointer.
    private struct Multi: @unchecked Sendable {
        let handle: UnsafeMutableRawPointer
    }

    private struct Mailbox {
        /// `nil` after the thread has ended.
        var multi: Multi?
        var submissions: [Submission] = []
        var cancellations: Set<UInt64> = []
        var isStopping = false
        var isAbandoned = false
        var waitingForEnd: [CheckedContinuation<Void, Never>] = []
    }

    private let mailbox: Mutex<Mailbox>
    private let settings: TransferSettings

    /// - Throws: if libcurl or the thread cannot be started.
    init(settings: TransferSettings) throws(HTTPClientError) {
        guard Self.libraryIsReady, let handle = curl_multi_init() else { throw .noLibrary }
        let multi = Multi(handle: handle)
        self.settings = settings
        mailbox = Mutex(Mailbox(multi: multi))
        _ = ccurl_multi_set_long(handle, CURLMOPT_MAXCONNECTS, settings.configuration.connectionsPerIssuer)
        guard DetachedThread.start({ self.run(multi) }) == 0 else {
            curl_multi_cleanup(handle)
            throw .noLibrary
        }
    }

    private static let libraryIsReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    // MARK: From any thread

    func submit(_ submission: Submission) {
        let refusal: HTTPFailure? = mailbox.withLock { mailbox in
            guard let multi = mailbox.multi, !mailbox.isStopping else {
                return HTTPFailure(.closed, mayHaveBeenSent: false, "the broker is shutting down")
            }
            // The task was cancelled before it started to wait.
            if mailbox.cancellations.contains(submission.id) { return .cancelled(mayHaveBeenSent: false) }
            mailbox.submissions.append(submission)
            curl_multi_wakeup(multi.handle)
            return nil
        }
        if let refusal { submission.continuation.resume(returning: .failure(refusal)) }
    }

    func cancel(_ id: UInt64) {
        mailbox.withLock { mailbox in
            mailbox.cancellations.insert(id)
            if let multi = mailbox.multi { curl_multi_wakeup(multi.handle) }
        }
    }

    /// Drops a cancellation that came too late.
    func forget(_ id: UInt64) {
        mailbox.withLock { _ = $0.cancellations.remove(id) }
    }

    /// Accepts no more requests, ends those that may be ended, and lets the others finish.
    func stop() {
        mailbox.withLock { mailbox in
            mailbox.isStopping = true
            if let multi = mailbox.multi { curl_multi_wakeup(multi.handle) }
        }
    }

    /// Also ends requests whose outcome is then unknown.
    func abandon() {
        mailbox.withLock { $0.isAbandoned = true }
        stop()
    }

    func ended() async {
        await withCheckedContinuation { continuation in
            let hasEnded = mailbox.withLock { mailbox in
                if mailbox.multi != nil { mailbox.waitingForEnd.append(continuation) }
                return mailbox.multi == nil
            }
            if hasEnded { continuation.resume() }
        }
    }

    // MARK: On the loop's thread

    private func run(_ multi: Multi) {
        var transfers = CurlTransfers(multi: multi.handle, settings: settings)
        while true {
            let mail = mailbox.withLock { mailbox in
                let mail = (
                    submissions: mailbox.submissions, cancellations: mailbox.cancellations, stop: mailbox.isStopping,
                    abandon: mailbox.isAbandoned
                )
                mailbox.submissions = []
                return mail
            }
            mail.submissions.forEach { transfers.start($0) }
            transfers.cancel { $0.request.isRepeatable && mail.cancellations.contains($0.id) }
            if mail.stop { transfers.cancel { $0.request.isRepeatable || mail.abandon } }
            transfers.perform()
            if mail.stop, transfers.isEmpty { break }
            transfers.tidy()
            // libcurl shortens the wait itself when one of its own timers is due earlier.
            curl_multi_poll(multi.handle, nil, 0, 60_000, nil)
        }
        let (late, waiting) = mailbox.withLock { mailbox in
            mailbox.multi = nil
            return (mailbox.submissions, mailbox.waitingForEnd)
        }
        transfers.closeConnections()
        curl_multi_cleanup(multi.handle)
        for submission in late {
            submission.continuation.resume(
                returning: .failure(HTTPFailure(.closed, mayHaveBeenSent: false, "the broker is shutting down")))
        }
        waiting.forEach { $0.resume() }
    }
}
