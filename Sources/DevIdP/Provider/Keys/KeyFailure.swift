/// Why OpenSSL did not do something, as one sentence for a person.
package struct KeyFailure: Error, CustomStringConvertible {
    package let description: String

    init(_ attempt: String) {
        description = "OpenSSL could not \(attempt). Check its configuration, usually /etc/ssl/openssl.cnf."
    }
}
