import BrokerModel
import BrokerSystem
import CCurl

/// Which certificate authorities the client trusts: the system's, and those of a private PEM file if there is one.
///
/// Where the system has a directory of hashed certificates (Debian's `/etc/ssl/certs`), only that is used: OpenSSL then
/// reads the one file it needs instead of parsing the whole bundle for every connection.
struct CertificateTrust: Sendable {
    /// PEM text for `CURLOPT_CAINFO_BLOB`; nil leaves libcurl's own bundle or the directory in charge.
    let pem: [UInt8]?
    /// A directory of hashed certificates; nil when the system has none.
    let directory: String?

    init(caFile: String?) throws(HTTPClient.ConfigurationError) {
        let version = ccurl_version()?.pointee
        let systemBundle = version?.cainfo.map { String(cString: $0) }
        directory = version?.capath.map { String(cString: $0) }.flatMap { Self.isHashed($0) ? $0 : nil }
        guard let caFile else {
            pem = nil
            return
        }
        var text = try Self.read(caFile, isTrusted: true)
        try PEMCertificates.check(text, of: caFile)
        if directory == nil, let systemBundle {
            // It is the system's own affair who may write it: libcurl would take it as it is.
            text += [UInt8(ascii: "\n")] + (try Self.read(systemBundle, isTrusted: false))
        }
        pem = text
    }

    /// A part of the certificates would be as bad as none: nobody would know which.
    private static func read(_ file: String, isTrusted: Bool) throws(HTTPClient.ConfigurationError) -> [UInt8] {
        do throws(FileError) {
            return try readFile(at: file, atMost: 4 << 20, isTrusted: isTrusted)
        } catch {
            throw .caFile(file, "it \(error.text)")
        }
    }

    /// `openssl rehash` names its links by eight hex digits and a number.
    private static func isHashed(_ directory: String) -> Bool {
        // One that cannot be listed is none that OpenSSL could use.
        let names = (try? FolderNames(of: directory))?.names ?? []
        return names.contains { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy(\.isHexDigit)
                && UInt8(parts[1]) != nil
        }
    }
}
