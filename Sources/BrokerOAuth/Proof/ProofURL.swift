/// The URL a proof is made for (`htu`: RFC 9449, section 4.2): without query and fragment; scheme and host in lower case,
/// without the scheme's own port (RFC 3986, section 6.2.2 and 6.2.3).
///
/// The path stays as it is written: servers compare it with their own, and many of them letter by letter.
struct ProofURL {
    let text: String

    /// - Returns: nil when it is no absolute `http` or `https` URL.
    init?(_ url: String) {
        guard let url = WebURL(url) else { return nil }
        text = url.origin + (url.path.isEmpty ? "/" : url.path)
    }
}
