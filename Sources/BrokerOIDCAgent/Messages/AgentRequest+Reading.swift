import BrokerModel
import BrokerValues

extension AgentRequest {
    /// Reads a request. Unknown members are ignored, as newer clients send some. A duplicate name is refused, as the intended value
    /// is unknown.
    package init(json text: UnsafeRawBufferPointer) throws(AgentRefusal) {
        let node: JSONNode
        do throws(JSONReader.Malformed) { node = try JSONReader.read(text, names: .areUnique) } catch {
            throw .malformed(error.problem)
        }
        let members = AgentMembers(node)
        guard let name = try members.text("request") else { throw .missing("request") }
        switch name {
        case "access_token": self = .token(try AgentTokenRequest(.access, members))
        case "id_token": self = .token(try AgentTokenRequest(.id, members))
        case "loaded_accounts": self = .loadedAccounts
        case "status": self = .status
        case "status_json": self = .statusJSON
        case "check": self = .check
        case "lock": self = .lock(passphrase: try members.passphrase())
        case "unlock": self = .unlock(passphrase: try members.passphrase())
        default: throw .unknownRequest(name)
        }
    }
}

extension AgentTokenRequest {
    fileprivate init(_ kind: Kind, _ members: AgentMembers) throws(AgentRefusal) {
        self.kind = kind
        if let account = try members.text("account") {
            subject = .account(account)
        } else if let issuer = try members.text("issuer") {
            subject = .issuer(issuer)
        } else {
            throw .missing("account")
        }
        if let least = try members.integer("min_valid_period") {
            forcesRefresh = least < 0
            minimumLifetime = least > 0 ? least : nil
        }
        scopes = (try members.text("scope") ?? "").split(separator: " ").map(String.init)
        resource = try members.text("audience")
        hint = try members.text("application_hint").map { SafeText($0, atMost: 100).text }
    }
}

/// The members of a request's object.
private struct AgentMembers {
    private let node: JSONNode

    init(_ node: JSONNode) { self.node = node }

    /// The text of a member; `nil` if it is missing or empty: the clients' libraries send empty strings for missing values.
    func text(_ name: String) throws(AgentRefusal) -> String? {
        switch node[name] {
        case nil, .null: return nil
        case .string(let text): return text.isEmpty ? nil : text
        default: throw .wrongType(name)
        }
    }

    /// The whole number of a member, which may be written as a string.
    func integer(_ name: String) throws(AgentRefusal) -> Int64? {
        switch node[name] {
        case nil, .null: return nil
        case .number(let digits), .string(let digits):
            guard let number = Int64(digits) else { throw .wrongType(name) }
            return number
        default: throw .wrongType(name)
        }
    }

    func passphrase() throws(AgentRefusal) -> Secret {
        guard let text = try text("password") else { throw .missing("password") }
        return Secret(text)
    }
}
