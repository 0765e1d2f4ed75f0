import BrokerValues

/// The content of one line from a client (JSON-RPC 2.0, sections 4 and 6).
package enum RequestLine: Sendable {
    case single(Item)
    case batch([Item])
    /// No request on this line can be executed: one error answers it, with `id` null.
    case refused(RPCError)

    package enum Item: Sendable {
        case call(Call)
        /// Not a request; the id is present if it could be read.
        case invalid(RequestID?, RPCError)
    }

    /// The limit of requests in one batch; a longer one is refused as a whole.
    package static let maximumBatch = 64

    package init(_ line: UnsafeRawBufferPointer) {
        let node: JSONNode
        do throws(JSONReader.Malformed) {
            node = try JSONReader.read(line)
        } catch {
            self = .refused(.parseError(error))
            return
        }
        guard case .array(let elements) = node else {
            self = .single(Item(node, in: line))
            return
        }
        guard !elements.isEmpty else {
            self = .refused(.invalidRequest("The batch is empty; put at least one request into it."))
            return
        }
        guard elements.count <= Self.maximumBatch else {
            self = .refused(
                .invalidRequest(
                    "The batch has \(elements.count) requests; send at most \(Self.maximumBatch) at a time."))
            return
        }
        self = .batch(elements.map { Item($0, in: line) })
    }
}

/// A request or, without an id, a notification.
package struct Call: Sendable {
    package let id: RequestID?
    package let method: String
    package let params: JSONNode?

    package init(id: RequestID?, method: String, params: JSONNode?) {
        self.id = id
        self.method = method
        self.params = params
    }
}

extension BrokerMethod {
    /// Decodes a request by the method's definition.
    ///
    /// - Throws: -32602 naming the field, with the request's correlation id if that is valid.
    package static func read(_ call: Call) throws(RPCError) -> (params: Params, app: Params.NamedApp) {
        var node = call.params ?? .object([])
        switch node {
        case .object: break
        // Some libraries send empty params as null or as an empty array.
        case .null: node = .object([])
        case .array(let elements) where elements.isEmpty: node = .object([])
        default: throw .invalidParams(WireError("must be an object, not \(node.kindName)"))
        }
        do throws(WireError) {
            let params = try Params(reading: node)
            let app = try params.namedApp()
            return (consume params, app)
        } catch {
            throw .invalidParams(error, correlationID: CorrelationID.given(in: node))
        }
    }
}

extension RequestLine.Item {
    fileprivate init(_ node: JSONNode, in line: UnsafeRawBufferPointer) {
        guard case .object(let members) = node else {
            self = .invalid(nil, .invalidRequest("A request must be an object, not \(node.kindName)."))
            return
        }
        var version: JSONNode?
        var method: JSONNode?
        var params: JSONNode?
        var id: JSONMember?
        var repeated: String?
        for member in members {
            switch member.name {
            case "jsonrpc": repeated = version == nil ? repeated : member.name; version = member.value
            case "method": repeated = method == nil ? repeated : member.name; method = member.value
            case "params": repeated = params == nil ? repeated : member.name; params = member.value
            case "id": repeated = id == nil ? repeated : member.name; id = member
            default: break
            }
        }
        if let repeated {
            // It is unknown which of two ids is meant.
            let known = repeated == "id" ? nil : id.flatMap { RequestID($0, in: line) }
            self = .invalid(known, .invalidRequest("The member \"\(repeated)\" is given twice."))
            return
        }
        let requestID = id.flatMap { RequestID($0, in: line) }
        if id != nil, requestID == nil {
            self = .invalid(nil, .invalidRequest("The member \"id\" must be a number or a string."))
        } else if case .string("2.0") = version {
            if case .string(let name) = method {
                self = .call(Call(id: requestID, method: name, params: params))
            } else {
                self = .invalid(requestID, .invalidRequest("The member \"method\" must be there and be a string."))
            }
        } else {
            self = .invalid(requestID, .invalidRequest("The member \"jsonrpc\" must be there and be \"2.0\"."))
        }
    }
}
