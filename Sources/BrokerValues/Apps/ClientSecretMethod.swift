/// How a client authenticates with its secret (RFC 6749, section 2.3.1), by the names of the registry of RFC 7591.
package enum ClientSecretMethod: String, Sendable, Codable, CaseIterable {
    case basic = "client_secret_basic"
    case post = "client_secret_post"
}
