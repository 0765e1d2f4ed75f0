import BrokerModel
import BrokerSystem
import CCurl
import Glibc

/// The certificate authorities that the client trusts: the system's, and those of a private PEM file if there is one.
///
/// If the system has a directory of hashed certificates (Debian's `/etc/ssl/certs`), only that is used: OpenSSL then
/// reads the one file it needs instead of parsing the whole bundle for every connection.
struct CertificateTrust: Sendable {
    /// PEM text for `CURLOPT_CAINFO_BLOB`; `nil` selects libcurl's own bundle or the directory.
    let pem: [UInt8]?
    /// A directory of hashed certificates; `nil` if the system has none.
    let directory: String?

    init(_ configuration: HTTPClientConfiguration) throws(HTTPClientError) {
        let variables = configuration.certificates
        let version = ccurl_version()?.pointee
        let systemDirectory = version?.capath.map { String(cString: $0) }.flatMap { Self.isHashed($0) ? $0 : nil }
        if let folders = variables.directory,
            folders.split(separator: ":").allSatisfy({ access(String($0), R_OK | X_OK) != 0 })
        {
            throw .caFile(folders, "none of its folders can be listed (SSL_CERT_DIR)")
        }
        directory = variables.directory ?? systemDirectory
        var texts: [[UInt8]] = []
        for file in configuration.authorityFiles {
            let text = try Self.read(file, isTrusted: true)
            try PEMCertificates.check(text, of: file)
            texts.append(text)
        }
        if directory == nil, variables.file == nil, !texts.isEmpty, let bundle = version?.cainfo {
            // The system is responsible for this file's permissions: libcurl would use it without a check.
            texts.append(try Self.read(String(cString: bundle), isTrusted: false))
        }
        pem = texts.isEmpty ? nil : Array(texts.joined(separator: [UInt8(ascii: "\n")]))
    }

    /// A part of the certificates is rejected like none: it would be unclear which part is in use.
    private static func read(_ file: String, isTrusted: Bool) throws(HTTPClientError) -> [UInt8] {
        do throws(FileError) {
            return try readFile(at: file, atMost: 4 << 20, isTrusted: isTrusted)
        } catch {
            throw .caFile(file, "it \(error.text)")
        }
    }

    /// `openssl rehash` names its links by eight hex digits and a number.
    private static func isHashed(_ directory: String) -> Bool {
        // OpenSSL cannot use a directory that cannot be listed.
        let names = (try? FolderNames(of: directory))?.names ?? []
        return names.contains { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy(\.isHexDigit)
                && UInt8(parts[1]) != nil
        }
    }
}

extension HTTPClientConfiguration {
    /// Reads the certificate authorities as an ``HTTPClient`` does when it starts.
    package func checkAuthorities() throws(HTTPClientError) { _ = try CertificateTrust(self) }
}
