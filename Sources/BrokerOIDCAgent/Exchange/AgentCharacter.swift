import BrokerValues

/// The kinds of bytes in a message of oidc-agent.
enum AgentCharacter {
    /// White space, and the end of a C string.
    static func isBlank(_ byte: UInt8) -> Bool {
        byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\n") || byte == UInt8(ascii: "\r")
            || byte == UInt8(ascii: "\t") || byte == 0
    }

    static func isBase64(_ byte: UInt8) -> Bool {
        byte.isASCIILetterOrDigit || "+/=".utf8.contains(byte)
    }
}
