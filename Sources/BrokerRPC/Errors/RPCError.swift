import BrokerValues

/// `error` of a response (JSON-RPC 2.0, section 5.1).
package struct RPCError: Error, MessageObject {
    package var code: Int64 = RPCError.brokerErrorCode
    /// One sentence for a person.
    package var message = ""
    package var data: ErrorData?

    package init() {}

    package init(code: Int64, message: String, data: ErrorData?) {
        self.code = code
        self.message = message
        self.data = data
    }

    package static let brokerErrorCode: Int64 = -32000
    package static let componentName: String? = "Error"

    package static let members: [Member<RPCError>] = [
        .required(
            "code", \.code,
            "-32700 not JSON, -32600 not a request, -32601 no such method, -32602 wrong params, -32000 everything else."
        ),
        .required("message", \.message, "One sentence for a person: what happened and what to do next."),
        .optional("data", \.data, "The error's details for programs."),
    ]
}

extension RPCError {
    package static func parseError(_ malformed: JSONReader.Malformed) -> RPCError {
        let message = "The line is not valid JSON at byte \(malformed.offset): \(malformed.problem.rawValue)."
        return RPCError(code: -32700, message: message, data: ErrorData(.invalidParameter))
    }

    /// Sent before the connection is closed.
    package static func lineTooLong(limit: Int) -> RPCError {
        let message = "The line is longer than \(limit) bytes; send shorter requests on a new connection."
        return RPCError(code: -32700, message: message, data: ErrorData(.invalidParameter))
    }

    /// The client shut down its sending side before the line's newline.
    package static let lineCutOff = RPCError(
        code: -32700, message: "The last line has no end; every message must end with a newline.",
        data: ErrorData(.invalidParameter))

    package static func invalidRequest(_ message: String) -> RPCError {
        RPCError(code: -32600, message: message, data: ErrorData(.invalidParameter))
    }

    package static func methodNotFound(_ name: String) -> RPCError {
        let shown = SafeText(name, atMost: 64, .mark).text
        let message = "This broker has no method \"\(shown)\"; rpc.discover lists those it has."
        return RPCError(code: -32601, message: message, data: ErrorData(.unsupported))
    }

    package static func invalidParams(_ error: WireError, correlationID: String? = nil) -> RPCError {
        var data = ErrorData(.invalidParameter)
        data.field = error.field.isEmpty ? nil : String(error.field.prefix(128))
        data.details.correlationID = correlationID
        let subject = data.field.map { "The param \"\($0)\"" } ?? "The params"
        return RPCError(code: -32602, message: "\(subject) \(error.problem).", data: data)
    }

    package init(_ error: BrokerError) {
        self.init(code: Self.brokerErrorCode, message: error.message, data: ErrorData(error))
    }

    /// The error that a client reports to its app: the broker's own error, regardless of its code.
    package var brokerError: BrokerError {
        guard let data else {
            return BrokerError(code == Self.brokerErrorCode ? .internal : .invalidParameter, message)
        }
        return BrokerError(data.kind, message, reason: data.reason) { $0 = data.details }
    }
}
