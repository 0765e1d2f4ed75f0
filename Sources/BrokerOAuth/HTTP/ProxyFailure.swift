import CCurl

extension HTTPFailure {
    /// A failure before a proxy had connected: nothing of the request was sent. libcurl's own message is not used because it
    /// may repeat the proxy's password.
    ///
    /// - Parameters:
    ///   - status: of the response to `CONNECT`; 0 without one.
    ///   - refusal: the reply of a SOCKS proxy.
    /// - Returns: `nil` for a failure of the server, behind a proxy that has connected.
    init?(_ code: CURLcode, of proxy: Proxy, server: String, status: Int, refusal: CURLproxycode) {
        guard !(200...299).contains(status) else { return nil }
        let (reason, message): (Reason, String)
        switch code {
        case _ where status == 407:
            (reason, message) = (
                .refusedByProxy, "the proxy \(proxy.name) does not take the user and password, or has none (status 407)"
            )
        case _ where (400...499).contains(status) && status != 408 && status != 429:
            (reason, message) = (
                .refusedByProxy, "the proxy \(proxy.name) does not let requests to \(server) through (status \(status))"
            )
        case _ where status != 0:
            (reason, message) = (
                .proxy, "the proxy \(proxy.name) could not connect to \(server) (status \(status))"
            )
        case CURLE_PROXY where [CURLPX_NO_AUTH, CURLPX_USER_REJECTED].contains(refusal):
            (reason, message) = (
                .refusedByProxy, "the proxy \(proxy.name) does not take the user and password, or has none"
            )
        case CURLE_PROXY where refusal == CURLPX_REPLY_NOT_ALLOWED:
            (reason, message) = (
                .refusedByProxy, "the proxy \(proxy.name) does not let requests to \(server) through"
            )
        case CURLE_PROXY:
            (reason, message) = (.proxy, "the proxy \(proxy.name) could not connect to \(server)")
        case CURLE_COULDNT_RESOLVE_PROXY:
            (reason, message) = (.proxy, "the name of the proxy \(proxy.name) was not found")
        case CURLE_COULDNT_CONNECT:
            (reason, message) = (.proxy, "no connection to the proxy \(proxy.name) could be made")
        case CURLE_OPERATION_TIMEDOUT where proxy.isOfSOCKS:
            (reason, message) = (.proxy, "no connection to \(server) was made through the proxy \(proxy.name) in time")
        case CURLE_OPERATION_TIMEDOUT:
            (reason, message) = (.proxy, "the proxy \(proxy.name) did not connect to \(server) in time")
        case CURLE_PEER_FAILED_VERIFICATION where proxy.isSecure:
            (reason, message) = (
                .untrusted(.unknownAuthority), "the certificate of the proxy \(proxy.name) could not be verified"
            )
        // CURLE_PROXY reports a SOCKS proxy's own failures: these errors come from the server behind it.
        case CURLE_SEND_ERROR where !proxy.isOfSOCKS, CURLE_RECV_ERROR where !proxy.isOfSOCKS,
            CURLE_GOT_NOTHING where !proxy.isOfSOCKS, CURLE_WEIRD_SERVER_REPLY where !proxy.isOfSOCKS:
            (reason, message) = (.proxy, "the proxy \(proxy.name) ended the connection")
        case CURLE_SSL_CONNECT_ERROR where proxy.isSecure:
            (reason, message) = (.proxy, "no secure connection to the proxy \(proxy.name) could be made")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
            (reason, message) = (.proxy, "\(proxy.name) is not the address of a proxy")
        default: return nil
        }
        self.init(reason, mayHaveBeenSent: false, message)
    }
}
