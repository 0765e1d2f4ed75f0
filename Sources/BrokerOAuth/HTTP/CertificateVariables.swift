/// The conventional variables that replace the system's certificate authorities, as curl(1) reads them:
/// `CURL_CA_BUNDLE`, and without it `SSL_CERT_FILE` and `SSL_CERT_DIR`.
///
/// A file replaces the system's bundle and a directory the system's directory, as with OpenSSL: if the system has a
/// directory, as Debian has, a file adds to it.
package struct CertificateVariables: Sendable, Equatable {
    package var file: String?
    /// A directory of hashed certificates; several are separated by colons.
    package var directory: String?

    package init(file: String? = nil, directory: String? = nil) {
        self.file = file
        self.directory = directory
    }

    package init(environment: [String: String]) {
        func value(_ name: String) -> String? { environment[name].flatMap { $0.isEmpty ? nil : $0 } }
        if let bundle = value("CURL_CA_BUNDLE") {
            self.init(file: bundle)
        } else {
            self.init(file: value("SSL_CERT_FILE"), directory: value("SSL_CERT_DIR"))
        }
    }
}
