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
        let name = proxy.name
        let meaning: (Reason, String)? =
            switch code {
            case _ where status == 407:
                (.refusedByProxy, "the proxy \(name) does not take the user and password, or has none (status 407)")
            case _ where (400...499).contains(status) && status != 408 && status != 429:
                (.refusedByProxy, "the proxy \(name) does not let requests to \(server) through (status \(status))")
            case _ where status != 0:
                (.proxy, "the proxy \(name) could not connect to \(server) (status \(status))")
            case CURLE_PROXY where [CURLPX_NO_AUTH, CURLPX_USER_REJECTED].contains(refusal):
                (.refusedByProxy, "the proxy \(name) does not take the user and password, or has none")
            case CURLE_PROXY where refusal == CURLPX_REPLY_NOT_ALLOWED:
                (.refusedByProxy, "the proxy \(name) does not let requests to \(server) through")
            case CURLE_PROXY:
                (.proxy, "the proxy \(name) could not connect to \(server)")
            case CURLE_COULDNT_RESOLVE_PROXY:
                (.proxy, "the name of the proxy \(name) was not found")
            case CURLE_COULDNT_CONNECT:
                (.proxy, "no connection to the proxy \(name) could be made")
            case CURLE_OPERATION_TIMEDOUT where proxy.isOfSOCKS:
                (.proxy, "no connection to \(server) was made through the proxy \(name) in time")
            case CURLE_OPERATION_TIMEDOUT:
                (.proxy, "the proxy \(name) did not connect to \(server) in time")
            case CURLE_PEER_FAILED_VERIFICATION where proxy.isSecure:
                (.untrusted(.unknownAuthority), "the certificate of the proxy \(name) could not be verified")
            // CURLE_PROXY reports a SOCKS proxy's own failures: these errors come from the server behind it.
            case CURLE_SEND_ERROR where !proxy.isOfSOCKS, CURLE_RECV_ERROR where !proxy.isOfSOCKS,
                CURLE_GOT_NOTHING where !proxy.isOfSOCKS, CURLE_WEIRD_SERVER_REPLY where !proxy.isOfSOCKS:
                (.proxy, "the proxy \(name) ended the connection")
            case CURLE_SSL_CONNECT_ERROR where proxy.isSecure:
                (.proxy, "no secure connection to the proxy \(name) could be made")
            case CURLE_UNSUPPORTED_PROTOCOL, CURLE_URL_MALFORMAT:
                (.proxy, "\(name) is not the address of a proxy")
            default: nil
            }
        guard let (reason, message) = meaning else { return nil }
        self.init(reason, mayHaveBeenSent: false, message)
    }
}
