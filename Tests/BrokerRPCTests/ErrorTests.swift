import BrokerRPC
import BrokerValues
import Testing

@Suite("Errors on the wire")
struct ErrorTests {
    private func travelled(_ error: BrokerError) throws -> (RPCError, BrokerError) {
        var writer = JSONWriter()
        writer.refuse(with: RPCError(error), to: RequestID(1))
        guard case .answer(let id, .error(let read)) = try writer.bytes.withUnsafeBytes(ServerLine.init) else {
            throw BrokerError(.internal, "not an error answer")
        }
        #expect(id?.number == 1)
        return (read, read.brokerError)
    }

    @Test("every kind arrives as the kind it was", arguments: ErrorKind.allCases)
    func kinds(kind: ErrorKind) throws {
        let (wire, error) = try travelled(BrokerError(kind, "A sentence."))
        #expect(wire.code == -32000)
        #expect(wire.data?.retryable == kind.isRetryable)
        #expect(error.kind == kind)
        #expect(error.message == "A sentence.")
    }

    @Test("the provider's numbers arrive as numbers")
    func errorCodes() throws {
        let error = BrokerError(.interactionRequired, "x") { $0.errorCodes = [53003, 50158] }
        #expect(try travelled(error).0.data?.details.errorCodes == [53003, 50158])
    }

    @Test("what does not pass by itself is told so, whatever its kind")
    func notRetryable() throws {
        let error = BrokerError(.offline, "The proxy refuses.") { $0.isRetryable = false }
        #expect(try travelled(error).0.data?.retryable == false)
    }

    @Test("every reason arrives as the reason it was", arguments: ErrorReason.allCases)
    func reasons(reason: ErrorReason) throws {
        #expect(try travelled(BrokerError(.interactionRequired, "x", reason: reason)).1.reason == reason)
    }

    @Test("all details arrive")
    func details() throws {
        let sent = BrokerError(.serverDeclinedScopes, "x") {
            $0.correlationID = "c"
            $0.oauthError = "invalid_grant"
            $0.subError = "bad_token"
            $0.description = "AADSTS: \"x\"\n"
            $0.httpStatus = 400
            $0.retryAfter = 60
            $0.grantedScopes = ["a"]
            $0.declinedScopes = ["b"]
            $0.accounts = [
                Account(
                    id: "1", username: "ann", name: "Ann", environment: "e", tenantId: "t", homeAccountId: "h",
                    authority: "https://e", signedIn: false, claims: ["n": 1, "l": ["a", nil]])
            ]
            $0.app = "mail"
            $0.claims = #"{"access_token":{}}"#
            $0.caller = "/usr/bin/mail"
        }
        #expect(try travelled(sent).1.details == sent.details)
    }

    @Test("a reason from a later broker is no reason to lose the error")
    func laterReason() throws {
        let text =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m","data":{"kind":"offline","retryable":true,"reason":"solarFlare","more":1}}}"#
        guard case .answer(_, .error(let error)) = try Array(text.utf8).withUnsafeBytes(ServerLine.init) else {
            Issue.record("not an error")
            return
        }
        #expect(error.brokerError.kind == .offline)
        #expect(error.brokerError.reason == nil)
    }

    @Test("a kind from a later broker counts as internal; what else the error says is kept")
    func laterKind() throws {
        let text =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m","data":{"kind":"eclipse","retryable":true,"retryAfter":4}}}"#
        guard case .answer(_, .error(let error)) = try Array(text.utf8).withUnsafeBytes(ServerLine.init) else {
            Issue.record("not an error")
            return
        }
        #expect(error.brokerError.kind == .internal)
        #expect(error.brokerError.message == "m")
        #expect(error.brokerError.details.retryAfter == 4)
        #expect(error.data?.retryable == true)
    }

    @Test("a cause is for the log: it is not on the wire")
    func cause() throws {
        struct Inner: Error { let text = "inner-cause-text" }
        var writer = JSONWriter()
        writer.refuse(with: RPCError(BrokerError(.internal, "m", cause: Inner())), to: nil)
        #expect(!String(decoding: writer.bytes, as: UTF8.self).contains("inner-cause"))
    }

    @Test("a method's name is shown without its control characters, and not at any length")
    func strangeMethod() {
        let error = RPCError.methodNotFound("a\u{1b}[31m" + String(repeating: "x", count: 10_000))
        #expect(error.code == -32601)
        #expect(error.message.utf8.count < 200)
        #expect(error.message.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test(
        "what no broker says is not taken for an answer",
        arguments: ["", "{}", "[]", "1", #"{"id":1}"#, #"{"id":1,"error":{}}"#])
    func notABroker(text: String) {
        #expect(throws: ServerLine.NotABrokerReply.self) { try Array(text.utf8).withUnsafeBytes(ServerLine.init) }
    }
}
