import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

/// The error code and message of each connection failure.
extension BrokerClientError {
    package init(_ failure: ConnectFailure, _ location: SocketLocation) {
        let path = location.path
        switch failure {
        case .notRunning:
            self.init(
                .brokerNotAvailable,
                "No broker listens at \(path). \(location.startAdvice)",
                isRetryable: true, cause: failure)
        case .busy:
            self.init(
                .brokerNotAvailable, "The broker at \(path) takes no new connection right now; try again.",
                isRetryable: true, cause: failure)
        case .pathTooLong:
            self.init(
                .brokerNotAvailable,
                "The socket's path \(path) is too long for the system (107 bytes); use a shorter one.",
                cause: failure)
        case .notASocket:
            self.init(.brokerNotAvailable, "\(path) is not a socket; name the broker's socket.", cause: failure)
        case .untrusted(let uid):
            self.init(
                .brokerNotTrusted,
                "The broker at \(path) belongs to user \(uid), neither you nor root; nothing was sent to it.",
                cause: failure)
        case .system(let errno):
            self.init(
                .brokerNotAvailable, "The broker at \(path) cannot be reached: \(errnoText(errno)).",
                cause: failure)
        }
    }

    static var lost: BrokerClientError {
        BrokerClientError(
            .connectionLost,
            "The broker went away before it answered, and may or may not have acted; check its state, or try again.",
            isRetryable: true)
    }

    /// Also where the socket of `brokerctl ssh` has ended here: sshd there still accepts, and then hangs up.
    static func hungUp(at location: SocketLocation) -> BrokerClientError {
        BrokerClientError(
            .brokerNotAvailable,
            "Connections to \(location.path) are accepted, but end before the whole answer has come. "
                + "If brokerctl ssh made this socket, log in again; otherwise, see brokerctl logs.",
            isRetryable: true)
    }

    static var taskCancelled: BrokerClientError {
        BrokerClientError(.canceled, "The request was canceled.")
    }

    package static func noAnswer(at location: SocketLocation) -> BrokerClientError {
        let help =
            location.isEverybodys
            ? "an administrator can look for the reason with journalctl --unit brokerd-system, "
                + "and restart it with systemctl restart brokerd-system."
            : "journalctl --user-unit brokerd may show the reason, systemctl --user restart brokerd restarts it."
        return BrokerClientError(.brokerNotAvailable, "The broker does not answer; \(help)", isRetryable: true)
    }

    static var tooLong: BrokerClientError {
        BrokerClientError(.invalidParameter, "The request is longer than 1 MiB; ask for less at a time.")
    }

    package static func notUnderstood(cause: (any Error)?) -> BrokerClientError {
        BrokerClientError(
            .invalidResponse,
            "The process on the socket does not speak this version of the broker's protocol; update the older of the two.",
            cause: cause)
    }

    /// The broker's error.
    package init(_ rpc: RPCError) {
        let error = rpc.brokerError
        self.init(
            Code(rawValue: error.kind.rawValue), error.message,
            isRetryable: rpc.data?.retryable ?? error.kind.isRetryable)
        self.rpc = rpc
    }
}

extension SocketLocation {
    fileprivate var startAdvice: String {
        if isEverybodys { return "Start it (as an administrator) with: systemctl start brokerd-system.socket" }
        if isUsual { return "Start it with: systemctl --user start brokerd.socket" }
        return "Start the broker that should listen there, or name another socket (--socket, BROKER_SOCKET)."
    }
}
