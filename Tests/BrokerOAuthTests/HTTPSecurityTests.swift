import BrokerModel
import BrokerOAuth
import BrokerTestSupport
import Foundation
import Testing

@Suite("TLS and proxies")
struct HTTPSecurityTests {
    private func configuration(
        ca: String? = nil, proxies: ProxySettings = .none
    ) -> HTTPClientConfiguration {
        HTTPClientConfiguration.patient(caFile: ca, proxies: proxies)
    }

    private func status(_ url: String, _ configuration: HTTPClientConfiguration) async throws -> Result<
        Int, HTTPFailure
    > {
        let client = try HTTPClient(configuration: configuration)
        let result: Result<Int, HTTPFailure>
        do throws(HTTPFailure) {
            result = .success(try await client.get(url).status)
        } catch {
            result = .failure(error)
        }
        await client.shutdown()
        return result
    }

    private func reason(_ url: String, _ configuration: HTTPClientConfiguration) async throws -> HTTPFailure.Reason? {
        guard case .failure(let failure) = try await status(url, configuration) else { return nil }
        return failure.reason
    }

    @Test("a private authority is trusted only if configured, and old TLS is refused")
    func privateAuthority() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let certificate = try await TestCertificate.make(in: bed, names: ["idp.example"])
            let other = try await TestCertificate.make(in: bed)
            let front = try await LoopbackFront.tls(to: server.port, certificate, in: bed)
            let url = "https://127.0.0.1:\(front.port)/"

            #expect(try await status(url, configuration(ca: certificate.authority)) == .success(200))
            #expect(try await reason(url, configuration()) == .untrusted(.unknownAuthority))
            #expect(
                try await reason(url, configuration(ca: other.authority)) == .untrusted(.unknownAuthority))

            let old = try await LoopbackFront.tls(
                to: server.port, certificate, versions: (oldest: "TLSv1", newest: "TLSv1_1"), in: bed)
            #expect(
                try await reason("https://127.0.0.1:\(old.port)/", configuration(ca: certificate.authority))
                    == .handshake)
        }
    }

    @Test("an expired certificate is distinguished from an untrusted one")
    func ended() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let certificate = try await TestCertificate.make(in: bed, days: 0)
            let front = try await LoopbackFront.tls(to: server.port, certificate, in: bed)
            try await eventually("the certificate has ended") {
                try await reason("https://127.0.0.1:\(front.port)/", configuration(ca: certificate.authority))
                    == .untrusted(.outOfDate)
            }
        }
    }

    @Test("only an unknown authority leads to the advice to configure one")
    func advice() {
        for fault in [CertificateFault.outOfDate, .otherName, .unknownAuthority] {
            let failure = HTTPFailure(
                .untrusted(fault), mayHaveBeenSent: false, "the certificate could not be verified")
            guard case .untrusted(let text) = ProviderError(failure, isRepeatable: true) else {
                Issue.record("\(fault)")
                continue
            }
            #expect(text.contains("oauth.ca_file") == (fault == .unknownAuthority), "\(text)")
        }
    }

    @Test("a replaced file of authorities is read again, and a damaged one is reported once and ignored")
    func replacedAuthorities() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let (old, new) = (try await TestCertificate.make(in: bed), try await TestCertificate.make(in: bed))
            let (oldFront, newFront) = (
                try await LoopbackFront.tls(to: server.port, old, in: bed),
                try await LoopbackFront.tls(to: server.port, new, in: bed)
            )
            let file = bed.path("authorities.pem")
            func put(_ text: String) throws { try text.write(toFile: file, atomically: true, encoding: .utf8) }
            try put(String(contentsOfFile: old.authority, encoding: .utf8))
            let complaints = Recorder<String>()
            var settings = configuration(ca: file)
            settings.complain = { complaints.add("\($0)") }
            let client = try HTTPClient(configuration: settings)
            func works(_ front: LoopbackFront) async -> Bool {
                (try? await client.get("https://127.0.0.1:\(front.port)/").status) == 200
            }
            #expect(await works(oldFront))
            #expect(await !works(newFront))
            try put(String(contentsOfFile: new.authority, encoding: .utf8))
            #expect(await works(newFront))
            // Its connection was kept; the trust that it was based on has ended.
            #expect(await !works(oldFront))
            try put("-----BEGIN CERTIFICATE-----\n")
            #expect(await works(newFront))
            #expect(await works(newFront))
            #expect(complaints.all.count == 1 && complaints.all[0].contains("authorities.pem"))
            try FileManager.default.removeItem(atPath: file)
            #expect(await works(newFront))
            #expect(complaints.all.count == 2)
            await client.shutdown()
        }
    }

    @Test("a missing folder of certificates prevents the start")
    func missingFolder() {
        var settings = configuration()
        settings.certificates = CertificateVariables(environment: ["SSL_CERT_DIR": "/nonexistent:/nonexistent/certs"])
        #expect {
            _ = try HTTPClient(configuration: settings)
        } throws: {
            "\($0)".contains("/nonexistent/certs") && "\($0)".contains("SSL_CERT_DIR")
        }
    }

    @Test("a certificate for another name is refused")
    func wrongName() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let certificate = try await TestCertificate.make(in: bed, names: ["idp.example"])
            let front = try await LoopbackFront.tls(to: server.port, certificate, in: bed)
            let proxy = try await LoopbackFront.proxy(to: front.port, in: bed)
            let through = configuration(
                ca: certificate.authority, proxies: ProxySettings(https: "http://127.0.0.1:\(proxy.port)"))
            #expect(try await status("https://idp.example/", through) == .success(200))
            #expect(try await reason("https://evil.example/", through) == .untrusted(.otherName))
        }
    }

    @Test("https goes through the environment's proxy, exceptions and loopback do not")
    func proxy() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let certificate = try await TestCertificate.make(in: bed, names: ["idp.example", "idp.invalid"])
            let front = try await LoopbackFront.tls(to: server.port, certificate, in: bed)
            let proxy = try await LoopbackFront.proxy(to: front.port, in: bed)
            let environment = [
                "HTTPS_PROXY": "http://127.0.0.1:\(proxy.port)", "http_proxy": "http://127.0.0.1:\(proxy.port)",
                "NO_PROXY": "other.example, idp.invalid",
            ]
            let through = configuration(ca: certificate.authority, proxies: ProxySettings(environment: environment))

            #expect(try await status("https://idp.example:8443/", through) == .success(200))
            #expect(proxy.connections == ["connect idp.example:8443"])
            #expect(try await reason("https://idp.invalid/", through) == .nameNotResolved)
            #expect(try await status("https://127.0.0.1:\(front.port)/", through) == .success(200))
            #expect(try await status(server.url, through) == .success(200))
            #expect(proxy.connections.count == 1)
        }
    }

    @Test("HTTP/2 is offered over TLS")
    func http2IsOffered() async throws {
        try await withTestBed { bed async throws in
            let server = try await LoopbackServer.start(in: bed)
            let certificate = try await TestCertificate.make(in: bed)
            let front = try await LoopbackFront.tls(to: server.port, certificate, protocols: ["h2"], in: bed)
            // The server behind it speaks only HTTP/1.1, so no response is expected.
            _ = try await reason("https://127.0.0.1:\(front.port)/", configuration(ca: certificate.authority))
            #expect(front.connections.first == "tls TLSv1.3 h2")
        }
    }

    @Test("lower-case proxy variables come first, HTTP_PROXY is ignored, all_proxy is the fallback")
    func proxyVariables() {
        let both = ProxySettings(environment: ["https_proxy": "http://a:1", "HTTPS_PROXY": "http://b:1"])
        #expect(both == ProxySettings(https: "http://a:1"))
        #expect(ProxySettings(environment: ["HTTP_PROXY": "http://b:1"]) == .none)
        let all = ProxySettings(environment: ["ALL_PROXY": "http://c:1", "https_proxy": "", "no_proxy": "x"])
        #expect(all == ProxySettings(http: "http://c:1", https: "http://c:1", exceptions: "x"))
    }

    @Test(
        "an unusable CA file is refused at startup by name",
        arguments: [
            nil, "", "no PEM at all", "-----BEGIN CERTIFICATE-----\nMIIB",
            "-----BEGIN CERTIFICATE-----\n!!!!\n-----END CERTIFICATE-----",
            "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----",
        ] as [String?])
    func unusableCAFile(contents: String?) async throws {
        try await withTestBed { bed async throws in
            let path = bed.path("ca.pem")
            try contents?.write(toFile: path, atomically: false, encoding: .utf8)
            #expect(await refusal(of: path)?.contains(path) == true)
        }
    }

    private func refusal(of path: String) async -> String? {
        do throws(HTTPClientError) {
            await (try HTTPClient(configuration: configuration(ca: path))).shutdown()
            return nil
        } catch {
            return error.description
        }
    }

    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"
    /// An empty ASN.1 sequence is sufficient as a certificate here.
    private static let whole = "\(begin)\nMAA=\n\(end)"
    private static let notAlone =
        "the first or last line of a certificate is not by itself: each needs a line of its own, without blanks before it"

    @Test(
        "PEM that OpenSSL does not accept is refused with the reason",
        arguments: [
            (whole + whole, "in line 3 \(notAlone)"), ("# ours\n " + whole, "in line 2 \(notAlone)"),
            (whole + "\n\t" + whole, "in line 4 \(notAlone)"), ("\(begin)\nMAA=\n  \(end)", "in line 3 \(notAlone)"),
            ("\(begin)MAA=\n\(end)", "in line 1 \(notAlone)"), ("\(end)\n" + whole, "certificate number 1 is damaged"),
            ("\(begin)\nMAGA\n\nMAGA\n\(end)", "certificate number 1 is damaged"),
            (whole + "\n\(begin)\nMA-_\n\(end)\n", "certificate number 2 is damaged"),
        ])
    func refusedPEM(contents: String, reason: String) async throws {
        try await withTestBed { bed async throws in
            let path = bed.path("ca.pem")
            try contents.write(toFile: path, atomically: false, encoding: .utf8)
            let refusal = await refusal(of: path)
            #expect(refusal?.contains(reason) == true, "\(refusal ?? "taken")")
        }
    }

    @Test(
        "PEM variants are accepted: trailing spaces, text in between, and other blocks",
        arguments: [
            whole, whole + "\n", "\(begin) \r\n\r\nMAA=\t\r\n\(end)\r\n",
            "subject=a\n\n\(whole)\n\nsubject=b\n\(whole)",
            "-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n" + whole, "\(begin)\n  MA\n  A=\n\(end)",
        ])
    func takenPEM(contents: String) async throws {
        try await withTestBed { bed async throws in
            let path = bed.path("ca.pem")
            try contents.write(toFile: path, atomically: false, encoding: .utf8)
            #expect(await refusal(of: path) == nil)
        }
    }

    @Test("a CA file that is invalid, writable by others or too large is refused without blocking")
    func unsafeCAFile() async throws {
        try await withTestBed { bed async throws in
            let (pipe, large, open) = (bed.path("pipe"), bed.path("large.pem"), bed.path("open.pem"))
            #expect(mkfifo(pipe, 0o600) == 0)
            try (String(repeating: "#\n", count: 2 << 20) + Self.whole).write(
                toFile: large, atomically: false, encoding: .utf8)
            try Self.whole.write(toFile: open, atomically: false, encoding: .utf8)
            #expect(chmod(open, 0o666) == 0)
            for (path, reason) in [
                (pipe, "is not a regular file"), (bed.directory.path, "is not a regular file"),
                (bed.path("none.pem"), "cannot be read: No such file or directory"),
                (large, "is larger than 4 MiB"), (open, "can be written by others; run chmod go-w on it"),
            ] {
                #expect(await refusal(of: path) == "The CA file \(path) cannot be used: it \(reason).")
            }
            #expect(chmod(open, 0o644) == 0)
            #expect(await refusal(of: open) == nil)
        }
    }

    @Test(
        "a CA file of another user is refused",
        .enabled(if: Prerequisite.root.shouldRun, "needs root, to give a file away"))
    func foreignCAFile() async throws {
        try await withTestBed { bed async throws in
            try Prerequisite.root.require()
            let path = bed.path("ca.pem")
            try Self.whole.write(toFile: path, atomically: false, encoding: .utf8)
            #expect(chown(path, 12345, 12345) == 0)
            #expect(await refusal(of: path)?.contains("belongs to another user; make it yours or root's") == true)
        }
    }
}
