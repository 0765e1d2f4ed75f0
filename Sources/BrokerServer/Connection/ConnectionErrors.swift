import BrokerAccess
import BrokerSocket
import BrokerValues

extension BrokerError {
    static func movedMeanwhile(_ caller: Caller) -> BrokerError {
        .denied(caller, "\(caller.id) entered a sandbox while it waited; connect again there.")
    }

    static func endedMeanwhile(_ caller: Caller) -> BrokerError {
        .denied(caller, "\(caller.id) has ended; a program that has its connection must make one of its own.")
    }

    /// A refusal by the socket layer.
    init(_ reason: ConnectionRefusal) {
        switch reason {
        case .lineTooLong(let limit):
            self.init(
                .invalidParameter,
                "A message is longer than \(limit) bytes; connect again and send shorter ones.")
        case .lineCutOff: self.init(.invalidParameter, "The connection was closed in the middle of a message.")
        case .manyWriters:
            self.init(
                .accessDenied,
                "More than one process writes on this connection; each must make its own.")
        case .descriptors: self.init(.accessDenied, "Descriptors are not accepted from clients.")
        case .lineStalled(let time):
            self.init(
                .timedOut,
                "The end of a line did not come within \(time.components.seconds.inSeconds); connect again and send whole lines."
            )
        case .tooManyConnections(let limit, let party):
            self.init(
                .throttled, "\(party.has) \(limit) connections already; close some, or try again later.",
                reason: .tooManyConnections)
        }
    }
}

extension ConnectionRefusal.Party {
    fileprivate var has: String {
        switch self {
        case .everybody: "The broker serves"
        case .user: "The programs of your user have"
        case .program: "This program or sandbox has"
        case .unnamed: "All sandboxes without a confirmed name have"
        }
    }
}
