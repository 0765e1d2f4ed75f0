import BrokerModel
import CCurl
import FoundationEssentials

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
        var text = try Self.certificates(in: caFile)
        if directory == nil, let systemBundle {
            guard let bundle = FileManager.default.contents(atPath: systemBundle) else {
                throw .caFile(systemBundle, "it cannot be read, so the system's certificate authorities are missing")
            }
            text += [UInt8(ascii: "\n")] + bundle
        }
        pem = text
    }

    /// `openssl rehash` names its links by eight hex digits and a number.
    private static func isHashed(_ directory: String) -> Bool {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: directory)) ?? []
        return names.contains { name in
            let parts = name.split(separator: ".", omittingEmptySubsequences: false)
            return parts.count == 2 && parts[0].count == 8 && parts[0].allSatisfy(\.isHexDigit)
                && UInt8(parts[1]) != nil
        }
    }

    /// Checked here, because libcurl would only say at the first connection that nothing is trusted.
    private static func certificates(in file: String) throws(HTTPClient.ConfigurationError) -> [UInt8] {
        guard let contents = FileManager.default.contents(atPath: file) else {
            throw .caFile(file, "it cannot be read")
        }
        guard contents.count <= 4 << 20 else { throw .caFile(file, "it is larger than 4 MiB") }
        let text = String(decoding: contents, as: UTF8.self)
        let begin = "-----BEGIN CERTIFICATE-----"
        let end = "-----END CERTIFICATE-----"
        var rest = text[...]
        var found = 0
        while let start = rest.firstRange(of: begin) {
            rest = rest[start.upperBound...]
            guard let stop = rest.firstRange(of: end),
                let der = Base64.decodeLeniently(rest[..<stop.lowerBound].filter { !$0.isWhitespace }.utf8),
                der.first == 0x30
            else { throw .caFile(file, "its certificate number \(found + 1) is damaged") }
            rest = rest[stop.upperBound...]
            found += 1
        }
        guard found > 0 else { throw .caFile(file, "it holds no certificate in PEM form") }
        return Array(contents)
    }
}
