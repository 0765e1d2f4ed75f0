import BrokerSystem
import BrokerValues
import CCurl
import Glibc
import Synchronization

/// The single thread that drives all transfers of a client.
///
/// libcurl's multi interface may be used by one thread at a time, and blocks in `curl_multi_poll` while it waits. So it
/// gets a thread of its own instead of one of the few threads of Swift's pool. Others leave submissions and
/// cancellations in a mailbox and wake it (`curl_multi_wakeup`, the one call that is safe from any thread).
final class CurlLoop: Sendable {
    typealias Outcome = Result<HTTPResponse, HTTPFailure>

    struct Submission: Sendable {
        let id: UInt64
        let request: HTTPRequest
        let url: WebURL
        let continuation: CheckedContinuation<Outcome, Never>
    }

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
    init(settings: TransferSettings) throws(HTTPClient.ConfigurationError) {
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
        var transfers = Transfers(multi: multi.handle, settings: settings)
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

/// The transfers in progress; used by the loop's thread only.
private struct Transfers {
    let multi: UnsafeMutableRawPointer
    let settings: TransferSettings
    private var byHandle: [UnsafeMutableRawPointer: CurlTransfer] = [:]
    private var idleLimit: IdleLimit
    private var queues: EndpointQueues
    private let pools: ConnectionPools

    init(multi: UnsafeMutableRawPointer, settings: TransferSettings) {
        self.multi = multi
        self.settings = settings
        idleLimit = IdleLimit(longest: settings.configuration.longestIdleConnection)
        queues = EndpointQueues(
            issuerLimit: settings.configuration.connectionsPerIssuer,
            endpointLimit: settings.configuration.requestsPerEndpoint)
        pools = ConnectionPools(
            longestIdle: settings.configuration.longestIdleConnection,
            mostIdle: settings.configuration.mostIdleIssuers)
    }

    var isEmpty: Bool { byHandle.isEmpty }

    mutating func start(_ submission: CurlLoop.Submission) {
        let longestIdle = idleLimit.now(awake: Self.read(CLOCK_MONOTONIC), uptime: Self.read(CLOCK_BOOTTIME))
        guard let transfer = CurlTransfer(submission, settings: settings, longestIdle: longestIdle) else {
            return submission.continuation.resume(
                returning: .failure(HTTPFailure(.internal, mayHaveBeenSent: false, "libcurl refused the request")))
        }
        if queues.enter(transfer, at: Self.read(CLOCK_MONOTONIC)) { begin(transfer) }
    }

    private mutating func begin(_ transfer: CurlTransfer) {
        guard let share = pools.enter(transfer.issuer), transfer.connects(by: share),
            curl_multi_add_handle(multi, transfer.easy) == CURLM_OK
        else { return end(transfer) { $0.finish(CURLE_FAILED_INIT) } }
        byHandle[transfer.easy] = transfer
    }

    /// Makes room for the issuer's next transfer. Transfers whose time expired while they waited are finished as well.
    private mutating func end(_ transfer: CurlTransfer, _ finish: (CurlTransfer) -> Void) {
        queues.leave(transfer)
        pools.leave(transfer.issuer, at: Self.read(CLOCK_MONOTONIC))
        finish(transfer)
        while let next = queues.next(of: transfer.issuer) {
            if next.transfer.hasTimeLeft(after: Self.read(CLOCK_MONOTONIC) - next.since) {
                begin(next.transfer)
            } else {
                queues.leave(next.transfer)
                next.transfer.finish(CURLE_OPERATION_TIMEDOUT)
            }
        }
    }

    func tidy() { pools.tidy(at: Self.read(CLOCK_MONOTONIC)) }

    func closeConnections() { pools.close() }

    private static func read(_ clock: clockid_t) -> Duration {
        var time = timespec()
        clock_gettime(clock, &time)
        return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
    }

    /// Transfers that may not be repeated (``HTTPRequest/isRepeatable``) are cancelled by ``CurlLoop/abandon()`` only.
    mutating func cancel(where condition: (CurlLoop.Submission) -> Bool) {
        // Waiting transfers first, so that none of them starts in a freed place.
        let waiting = queues.remove { condition($0.submission) }
        waiting.forEach { $0.cancelled() }
        for (easy, transfer) in byHandle where condition(transfer.submission) {
            byHandle[easy] = nil
            curl_multi_remove_handle(multi, easy)
            end(transfer) { $0.cancelled() }
        }
    }

    mutating func perform() {
        var running: Int32 = 0
        curl_multi_perform(multi, &running)
        var easy: UnsafeMutableRawPointer?
        var result = CURLE_OK
        while ccurl_next_done(multi, &easy, &result) != 0 {
            guard let handle = easy, let transfer = byHandle.removeValue(forKey: handle) else { continue }
            curl_multi_remove_handle(multi, handle)
            end(transfer) { $0.finish(result) }
        }
    }
}
