import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import BrokerValues
import Foundation
import Testing

@Suite("Proxies that refuse a connection")
struct ProxyTests {
    /// The outcome of a request to https://idp.example through a proxy on loopback.
    private func failure(
        through proxy: String, exceptions: String? = nil, reachesPrivate: Bool = true,
        _ change: (inout HTTPClientConfiguration) -> Void = { _ in }
    ) async throws -> HTTPFailure {
        var configuration = HTTPClientConfiguration.patient(
            proxies: ProxySettings(https: proxy, exceptions: exceptions))
        configuration.reachesPrivateAddresses = { _ in reachesPrivate }
        change(&configuration)
        let client = try HTTPClient(configuration: configuration)
        let request = HTTPRequest(.post, "https://idp.example/token", of: "issuer", body: Secret("a=b"))
        let failure: HTTPFailure
        do {
            failure = try await failureOf(request, through: client)
        } catch {
            await client.shutdown()
            throw error
        }
        await client.shutdown()
        return failure
    }

    @Test(
        "a response to CONNECT is reported as the proxy's, with its status, and nothing was sent",
        arguments: [
            ("403", HTTPFailure.Reason.refusedByProxy, "does not let requests to idp.example through (status 403)"),
            ("407", .refusedByProxy, "does not take the user and password, or has none (status 407)"),
            ("404", .refusedByProxy, "does not let requests to idp.example through (status 404)"),
            ("502", .proxy, "could not connect to idp.example (status 502)"),
            ("503", .proxy, "could not connect to idp.example (status 503)"),
            ("0", .proxy, "ended the connection"),
        ])
    func answers(status: String, reason: HTTPFailure.Reason, words: String) async throws {
        try await withTestBed { bed async throws in
            let proxy = try await LoopbackFront.proxy(to: 1, status, in: bed)
            let failure = try await failure(through: "http://127.0.0.1:\(proxy.port)")
            #expect(failure.reason == reason, "\(failure)")
            #expect(failure.message == "the proxy http://127.0.0.1:\(proxy.port) \(words)")
            #expect(!failure.mayHaveBeenSent)
            #expect(proxy.connections == ["connect idp.example:443"], "it was tried again")
        }
    }

    @Test("a password that the proxy rejects is not shown, and the right one connects")
    func password() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let certificate = try await TestCertificate.make(in: bed, names: ["idp.example"])
            let front = try await LoopbackFront.tls(to: server.port, certificate, in: bed)
            let proxy = try await LoopbackFront.proxy(to: front.port, "ann:right", in: bed)
            let wrong = try await failure(through: "http://ann:wr0ng@127.0.0.1:\(proxy.port)")
            #expect(wrong.reason == .refusedByProxy)
            #expect(wrong.message.contains("http://127.0.0.1:\(proxy.port)") && wrong.message.contains("407"))
            #expect(!wrong.message.contains("wr0ng") && !wrong.message.contains("ann"))

            let client = try HTTPClient(
                configuration: HTTPClientConfiguration.patient(
                    caFile: certificate.authority,
                    proxies: ProxySettings(https: "http://ann:right@127.0.0.1:\(proxy.port)")))
            #expect(try await client.get("https://idp.example/").status == 200)
            await client.shutdown()
        }
    }

    @Test("a failure of the server behind a SOCKS proxy is not reported as the proxy's, a refusal is")
    func socks() async throws {
        try await withTestBed { bed async throws in
            let proxy = try await LoopbackFront.socks(answering: 0, in: bed)
            let address = "socks5h://127.0.0.1:\(proxy.port)"
            let silent = try await failure(through: address) { $0.connectTimeout = .milliseconds(500) }
            #expect(silent.message == "no connection to idp.example was made through the proxy \(address) in time")
            #expect(!silent.mayHaveBeenSent && proxy.connections.allSatisfy { $0 == "connect idp.example:443" })
            let refusing = try await LoopbackFront.socks(answering: 2, in: bed)
            let refused = try await failure(through: "socks5h://127.0.0.1:\(refusing.port)")
            #expect(refused.reason == .refusedByProxy && !refused.mayHaveBeenSent, "\(refused)")
        }
    }

    @Test("a proxy that is down, has no name or an invalid address is named without its password")
    func unreachable() async throws {
        let port = try FreePort.next()
        let down = try await failure(through: "http://ann:s3cret@127.0.0.1:\(port)")
        #expect(down.reason == .proxy && !down.mayHaveBeenSent)
        #expect(down.message == "no connection to the proxy http://127.0.0.1:\(port) could be made")
        let nameless = try await failure(through: "ann:s3/cr@et@proxy.invalid:3128")
        #expect(nameless.reason == .proxy && !nameless.mayHaveBeenSent, "\(nameless)")
        for text in ["s3", "ann", "et@"] { #expect(!nameless.message.contains(text), "\(nameless.message)") }
        let strange = try await failure(through: "gopher://ann:s3cret@proxy.example:70")
        #expect(!strange.message.contains("s3cret") && strange.message.contains("proxy"), "\(strange)")
    }

    @Test("a proxy's refusal is reported as such, and as retryable only if it may be")
    func meaning() {
        let refused = ProviderError(
            HTTPFailure(.refusedByProxy, mayHaveBeenSent: false, "the proxy P does not"), isRepeatable: false)
        guard case .refusedByProxy(let text) = refused else {
            Issue.record("\(refused)")
            return
        }
        #expect(text.hasPrefix("The provider could not be reached: the proxy P does not. Set the proxy's address"))
        let down = ProviderError(HTTPFailure(.proxy, mayHaveBeenSent: false, "no"), isRepeatable: false)
        #expect(down.withoutText == .offline(""))
    }

    @Test("a host in NO_PROXY is reached without the proxy")
    func exception() async throws {
        let direct = try await failure(through: "http://127.0.0.1:1", exceptions: "idp.example:443")
        // The name leads nowhere here: the point is that the missing proxy was not used.
        #expect(direct.reason == .nameNotResolved, "\(direct)")
    }

    @Test(
        "NO_PROXY is parsed like in Go, Python and curl",
        arguments: [
            ("idp.example", "https://idp.example/", true), ("idp.example", "https://a.idp.example/", true),
            ("idp.example", "https://notidp.example/", false), (".example", "https://idp.example/", true),
            (".idp.example", "https://idp.example/", true), ("*.example", "https://idp.example/", true),
            ("*.idp.example", "https://idp.example/", false), ("*.idp.example", "https://a.b.idp.example/", true),
            ("*", "https://idp.example/", true), ("other, *", "https://idp.example/", true),
            ("IDP.Example.", "https://idp.example/", true), ("other idp.example", "https://idp.example/", true),
            ("idp.example:443", "https://idp.example/", true), ("idp.example:443", "https://idp.example:8443/", false),
            ("idp.example:8443", "https://idp.example:8443/", true),
            ("idp.example:8443", "https://idp.example/", false),
            ("*.example:8443", "https://idp.example:8443/", true), ("192.0.2.7", "https://192.0.2.7/", true),
            ("192.0.2.0/24", "https://192.0.2.7/", true), ("192.0.2.0/24", "https://192.0.3.7/", false),
            ("192.0.2.7:8443", "https://192.0.2.7/", false), ("2001:db8::1", "https://[2001:db8::1]/", true),
            ("[2001:db8::1]:443", "https://[2001:db8::1]/", true), ("2001:db8::/32", "https://[2001:db8:1::1]/", true),
            ("[2001:db8::1]:444", "https://[2001:db8::1]/", false), ("2.7", "https://192.0.2.7/", false),
            ("", "https://idp.example/", false), (",., ", "https://idp.example/", false),
            ("192.0.2.0/240", "https://192.0.2.7/", false),
        ])
    func noProxy(exceptions: String, url: String, isCovered: Bool) throws {
        #expect(ProxyExceptions(exceptions).cover(try #require(WebURL(url))) == isCovered)
    }

    @Test("the environment names certificate authorities as for curl")
    func certificateVariables() {
        func read(_ variables: [String: String]) -> CertificateVariables {
            CertificateVariables(environment: variables)
        }
        let both = read(["SSL_CERT_FILE": "/f", "SSL_CERT_DIR": "/d"])
        #expect(both == CertificateVariables(file: "/f", directory: "/d"))
        #expect(read(["SSL_CERT_FILE": "/f", "CURL_CA_BUNDLE": "/b"]) == CertificateVariables(file: "/b"))
        #expect(read(["SSL_CERT_FILE": "", "CURL_CA_BUNDLE": ""]) == CertificateVariables())
    }

    @Test("SSL_CERT_FILE, CURL_CA_BUNDLE and SSL_CERT_DIR add authorities to those of oauth.ca_file")
    func certificatesFromTheEnvironment() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let certificate = try await TestCertificate.make(in: bed)
            let other = try await TestCertificate.make(in: bed)
            let front = try await LoopbackFront.tls(to: server.port, certificate, in: bed)
            let folder = try bed.makeDirectory("hashed")
            try FileManager.default.copyItem(atPath: certificate.authority, toPath: "\(folder)/ca.pem")
            try await bed.require("openssl", ["rehash", folder])
            for (variables, caFile) in [
                (["SSL_CERT_FILE": certificate.authority], nil), (["CURL_CA_BUNDLE": certificate.authority], nil),
                (["SSL_CERT_FILE": certificate.authority], other.authority), (["SSL_CERT_DIR": folder], nil),
                (["SSL_CERT_DIR": "/nowhere:\(folder)"], nil),
            ] {
                var configuration = HTTPClientConfiguration.patient(caFile: caFile)
                configuration.certificates = CertificateVariables(environment: variables)
                let client = try HTTPClient(configuration: configuration)
                let status = try? await client.get("https://127.0.0.1:\(front.port)/").status
                #expect(status == 200, "\(variables)")
                await client.shutdown()
            }
        }
    }
}
