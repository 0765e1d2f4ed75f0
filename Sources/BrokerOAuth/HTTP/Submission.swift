import BrokerValues

/// A request, with the task that waits for its outcome.
struct Submission: Sendable {
    /// Identifies it for cancellation.
    let id: UInt64
    let request: HTTPRequest
    let url: WebURL
    let continuation: CheckedContinuation<Result<HTTPResponse, HTTPFailure>, Never>
}
