import BrokerValues

/// The reason why the bytes of a client are not a request.
package enum AgentRefusal: Error, Sendable, Equatable {
    /// The message has more than this number of bytes.
    case tooLong(limit: Int)
    /// The first message is neither a key nor a JSON object.
    case neitherKeyNorObject
    /// The key yields no shared secret.
    case badKey
    /// The message is not `length:nonce:box`.
    case badFrame
    /// The box was made with another key, or the message is incomplete.
    case sealBroken
    case malformed(JSONReader.Problem)
    case missing(String)
    case wrongType(String)
    case unknownRequest(String)
    /// The rest did not arrive in time.
    case stalled
    /// The client ended in the middle of a message.
    case cutOff
}

extension AgentRefusal {
    /// The text that the client shows after "Error: ".
    package var text: String {
        switch self {
        case .tooLong(let limit): "Bad request: more than \(limit) bytes"
        case .neitherKeyNorObject: "Bad request: neither a public key nor a JSON object"
        case .badKey: "Bad request: the public key cannot be used"
        case .badFrame: "Bad request: not length:nonce:box"
        case .sealBroken: "Bad request: the message cannot be opened with the keys of this connection"
        case .malformed(let problem): "Bad request: no JSON (\(problem.rawValue))"
        case .missing(let member): "Bad request: \(member) is missing"
        case .wrongType(let member): "Bad request: \(member) has a value of another type"
        case .unknownRequest(let name): "There is no request \(SafeText(name, atMost: 40).text) at this socket"
        case .stalled: "Bad request: the rest of it did not come in time"
        case .cutOff: "Bad request: it ended in the middle"
        }
    }

    package var failure: AgentFailure {
        switch self {
        case .unknownRequest("remove"), .unknownRequest("remove_all"):
            AgentFailure(text, toDo: "To sign out", run: "brokerctl accounts sign-out")
        case .unknownRequest("add"), .unknownRequest("gen"):
            AgentFailure(text, toDo: "To set up an account", run: "brokerctl apps add")
        default: AgentFailure(text, toDo: "For a token without this socket", run: "brokerctl token --app NAME")
        }
    }
}
