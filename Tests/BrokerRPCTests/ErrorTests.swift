import BrokerRPC
import BrokerValues
import Testing

@Suite("Errors on the wire")
struct ErrorTests {
    /// The error in an answer to the first request.
    private func read(_ line: [UInt8]) throws -> RPCError {
        guard case .answer(let id, .error(let error)) = try line.withUnsafeBytes(ServerLine.init) else {
            throw BrokerError(.internal, "not an error answer")
        }
        #expect(id?.number == 1)
        return error
    }

    private func travelled(_ error: BrokerError) throws -> (RPCError, BrokerError) {
        var writer = JSONWriter()
        writer.refuse(with: RPCError(error), to: RequestID(1))
        let read = try read(writer.bytes)
        return (read, read.brokerError)
    }

    @Test("every kind survives the wire", arguments: ErrorKind.allCases)
    func kinds(kind: ErrorKind) throws {
        let (wire, error) = try travelled(BrokerError(kind, "A sentence."))
        #expect(wire.code == -32000)
        #expect(wire.data?.retryable == kind.isRetryable)
        #expect(error.kind == kind)
        #expect(error.message == "A sentence.")
    }

    @Test("the provider's numbers are sent as numbers")
    func errorCodes() throws {
        let error = BrokerError(.interactionRequired, "x") { $0.errorCodes = [53003, 50158] }
        #expect(try travelled(error).0.data?.details.errorCodes == [53003, 50158])
    }

    @Test("a permanent error is marked as not retryable, regardless of its kind")
    func notRetryable() throws {
        let error = BrokerError(.offline, "The proxy refuses.") { $0.isRetryable = false }
        #expect(try travelled(error).0.data?.retryable == false)
    }

    @Test("every reason survives the wire", arguments: ErrorReason.allCases)
    func reasons(reason: ErrorReason) throws {
        #expect(try travelled(BrokerError(.interactionRequired, "x", reason: reason)).1.reason == reason)
    }

    @Test("all details survive the wire")
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

    @Test("an unknown reason of a later broker does not lose the error")
    func laterReason() throws {
        let text =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m","data":{"kind":"offline","retryable":true,"reason":"solarFlare","more":1}}}"#
        let error = try read(Array(text.utf8))
        #expect(error.brokerError.kind == .offline)
        #expect(error.brokerError.reason == nil)
    }

    @Test("an unknown kind of a later broker counts as internal and keeps the other members")
    func laterKind() throws {
        let text =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"m","data":{"kind":"eclipse","retryable":true,"retryAfter":4}}}"#
        let error = try read(Array(text.utf8))
        #expect(error.brokerError.kind == .internal)
        #expect(error.brokerError.message == "m")
        #expect(error.brokerError.details.retryAfter == 4)
        #expect(error.data?.retryable == true)
    }

    @Test("a cause is written to the log only, not to the wire")
    func cause() throws {
        struct Inner: Error { let text = "inner-cause-text" }
        var writer = JSONWriter()
        writer.refuse(with: RPCError(BrokerError(.internal, "m", cause: Inner())), to: nil)
        #expect(!String(decoding: writer.bytes, as: UTF8.self).contains("inner-cause"))
    }

    @Test("a method's name is shown without control characters and truncated")
    func strangeMethod() {
        let error = RPCError.methodNotFound("a\u{1b}[31m" + String(repeating: "x", count: 10_000))
        #expect(error.code == -32601)
        #expect(error.message.utf8.count < 200)
        #expect(error.message.utf8.allSatisfy { $0 >= 0x20 })
    }

    @Test(
        "an invalid error object is not accepted as an answer",
        arguments: ["", "{}", "[]", "1", #"{"id":1}"#, #"{"id":1,"error":{}}"#])
    func notABroker(text: String) {
        #expect(throws: ServerLine.NotABrokerReply.self) { try Array(text.utf8).withUnsafeBytes(ServerLine.init) }
    }
}
