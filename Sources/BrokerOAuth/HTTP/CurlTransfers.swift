import CCurl
import Glibc

/// The transfers in progress; used by the loop's thread only.
struct CurlTransfers {
    private let multi: UnsafeMutableRawPointer
    private let settings: TransferSettings
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
            maximumIdle: settings.configuration.maximumIdleIssuers)
    }

    var isEmpty: Bool { byHandle.isEmpty }

    mutating func start(_ submission: Submission) {
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
    mutating func cancel(where condition: (Submission) -> Bool) {
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
