import Foundation

/// A certificate for 127.0.0.1 and localhost, and the private authority that signed it.
package struct TestCertificate: Sendable {
    package var authority: String
    package var certificate: String
    package var key: String

    /// Creates both with `openssl`; the certificate can be for further names.
    ///
    /// - Parameter days: the certificate's lifetime; 0 for one that expires at once.
    package static func make(in bed: TestBed, names: [String] = [], days: Int = 2) async throws -> TestCertificate {
        let directory = try bed.makeDirectory("tls")
        let (authority, authorityKey) = ("\(directory)/ca.pem", "\(directory)/ca.key")
        let (certificate, key, request) = (
            "\(directory)/server.pem", "\(directory)/server.key", "\(directory)/server.csr"
        )
        let newKey = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
        try await bed.require(
            "openssl",
            ["req", "-x509", "-subj", "/CN=Token broker test authority", "-days", "2", "-keyout", authorityKey]
                + ["-out", authority, "-addext", "keyUsage=critical,keyCertSign,cRLSign"] + newKey)
        try await bed.require(
            "openssl", ["req", "-subj", "/CN=127.0.0.1", "-keyout", key, "-out", request] + newKey)
        let extensions = "\(directory)/extensions"
        let subjects = (["IP:127.0.0.1", "DNS:localhost"] + names.map { "DNS:\($0)" }).joined(separator: ",")
        try "subjectAltName=\(subjects)\nextendedKeyUsage=serverAuth\n"
            .write(toFile: extensions, atomically: false, encoding: .utf8)
        try await bed.require(
            "openssl",
            ["x509", "-req", "-in", request, "-CA", authority, "-CAkey", authorityKey, "-CAcreateserial"]
                + ["-days", "\(days)", "-extfile", extensions, "-out", certificate])
        return TestCertificate(authority: authority, certificate: certificate, key: key)
    }
}
