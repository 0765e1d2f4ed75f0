import BrokerTestSupport
import Foundation
import Testing

/// An issuer's metadata, with a certificate of an authority that only a setting names.
enum PrivateIssuer {
    /// - Returns: its address, and the authority's certificate.
    static func start(in bed: TestBed) async throws -> (issuer: String, authorities: String) {
        let certificate = try await TestCertificate.make(in: bed)
        let folder = try bed.makeDirectory("issuer")
        let port = try FreePort.next()
        let server = try bed.start(
            Launch("python3", ["-m", "http.server", "--bind", "127.0.0.1", "--directory", folder, "\(port)"]))
        try await eventually("the issuer serves") {
            try server.requireRunning()
            return try await bed.run(
                Launch("curl", ["--silent", "--noproxy", "*", "--output", "/dev/null", "http://127.0.0.1:\(port)/"])
            ).succeeded
        }
        let front = try await LoopbackFront.tls(to: Int(port), certificate, in: bed)
        let issuer = "https://127.0.0.1:\(front.port)"
        try FileManager.default.createDirectory(atPath: "\(folder)/.well-known", withIntermediateDirectories: true)
        try """
        {"issuer": "\(issuer)", "authorization_endpoint": "\(issuer)/authorize", "token_endpoint": "\(issuer)/token",
        "jwks_uri": "\(issuer)/keys", "response_types_supported": ["code"], "subject_types_supported": ["public"],
        "id_token_signing_alg_values_supported": ["RS256"]}
        """.write(toFile: "\(folder)/.well-known/openid-configuration", atomically: true, encoding: .utf8)
        return (issuer, try String(contentsOfFile: certificate.authority, encoding: .utf8))
    }
}

extension SystemdLab {
    /// The broker accepts the certificate of an app's issuer.
    func reaches(_ app: String) async throws {
        let login = try start("brokerctl", "login", "--app", app, "--no-browser")
        try await login.waitForText("/authorize?")
        await login.stop()
    }

    /// The brokers' journal since the start.
    func said() async throws -> String {
        try await root("journalctl", "--sync")
        return try await root("journalctl", "--quiet", "--output=cat", "SYSLOG_IDENTIFIER=brokerd")
    }

    /// A browser of the user that records its arguments.
    func makeBrowser() async throws {
        try await user(
            "sh", "-c",
            #"""
            printf '#!/bin/sh\necho "$1" > ~/page.new && mv ~/page.new ~/page\n' > ~/browser && chmod +x ~/browser
            """#)
    }

    func browserGetsPage() async throws {
        try await eventually("the browser is given a page") {
            try await attempt("sh", "-c", "cat ~/page").output.hasPrefix("http://127.0.0.1:")
        }
    }
}
