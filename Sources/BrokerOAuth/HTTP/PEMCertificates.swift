import BrokerModel
import BrokerValues

/// Checks whether OpenSSL will accept the certificates of a PEM file, because libcurl would report only at the first
/// connection that nothing is trusted.
struct PEMCertificates {
    private let file: String
    private var found = 0
    /// The certificate being read.
    private var base64: [UInt8]?

    static func check(_ contents: [UInt8], of file: String) throws(HTTPClientError) {
        var certificates = PEMCertificates(file: file)
        let lines = contents.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            let end = line.lastIndex { $0 > UInt8(ascii: " ") }.map { $0 + 1 } ?? line.startIndex
            try certificates.add(String(decoding: line[..<end], as: UTF8.self), number: index + 1)
        }
        guard certificates.base64 == nil else { throw certificates.damage }
        guard certificates.found > 0 else { throw .caFile(file, "it holds no certificate in PEM form") }
    }

    private init(file: String) { self.file = file }

    /// - Parameter line: without trailing spaces. OpenSSL accepts none before the markers.
    private mutating func add(_ line: String, number: Int) throws(HTTPClientError) {
        if line == Self.begin {
            guard base64 == nil else { throw damage }
            base64 = []
        } else if line == Self.end {
            guard let text = base64, let der = Base64.decode(text), der.first == 0x30 else { throw damage }
            (found, base64) = (found + 1, nil)
        } else if base64 == nil ? line.holds(Self.begin) || line.holds(Self.end) : line.holds("-----") {
            throw .caFile(
                file,
                "in line \(number) the first or last line of a certificate is not by itself: each needs a line of its own, "
                    + "without blanks before it")
        } else {
            // OpenSSL reads text before an empty line as a header.
            guard !line.isEmpty || base64?.isEmpty != false else { throw damage }
            base64?.append(contentsOf: line.utf8.filter { $0 > UInt8(ascii: " ") })
        }
    }

    private var damage: HTTPClientError {
        .caFile(file, "its certificate number \(found + 1) is damaged")
    }

    private static let begin = "-----BEGIN CERTIFICATE-----"
    private static let end = "-----END CERTIFICATE-----"
}
