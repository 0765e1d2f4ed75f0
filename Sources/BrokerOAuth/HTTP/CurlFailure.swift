import BrokerValues
import CCurl

extension HTTPFailure {
    static func cancelled(mayHaveBeenSent: Bool) -> HTTPFailure {
        HTTPFailure(.cancelled, mayHaveBeenSent: mayHaveBeenSent, "the request was canceled")
    }

    /// - Parameters:
    ///   - code: libcurl's result of the transfer.
    ///   - server: host and port, for the message.
    ///   - mayHaveBeenSent: whether the request began to go out.
    ///   - certificate: its defect, if that is the cause.
    ///   - detail: libcurl's message; used if only it explains a certificate's defect.
    ///   - seconds: the time limit of the whole exchange.
    init(
        _ code: CURLcode, server: String, mayHaveBeenSent: Bool, certificate: CertificateFault, detail: String,
        seconds: Int
    ) {
        let (reason, message) = Self.meaning(
            of: code, server: server, sent: mayHaveBeenSent, certificate, detail: SafeText(detail, atMost: 200).text,
            seconds: seconds)
        self.init(reason, mayHaveBeenSent: mayHaveBeenSent, message)
    }

    private static func meaning(
        of code: CURLcode, server: String, sent: Bool, _ certificate: CertificateFault, detail: String, seconds: Int
    ) -> (Reason, String) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST:
            (.nameNotResolved, "the name of \(server) was not found")
        case CURLE_COULDNT_CONNECT:
            (.notConnected, "no connection to \(server) could be made")
        case CURLE_SSL_CONNECT_ERROR:
            (.handshake, "no secure connection to \(server) could be made (\(detail))")
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CACERT_BADFILE:
            (
                .untrusted(code == CURLE_PEER_FAILED_VERIFICATION ? certificate : .unknownAuthority),
                "the certificate of \(server) could not be verified (\(detail))"
            )
        case CURLE_OPERATION_TIMEDOUT:
            sent
                ? (.timedOut, "\(server) did not answer within \(seconds.inSeconds)")
                : (.timedOut, "no connection to \(server) was made in time")
        case CURLE_FILESIZE_EXCEEDED:
            (.tooLarge, "the answer of \(server) is too large")
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE, CURLE_HTTP2,
            CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
            (.connectionLost, "the connection to \(server) was lost before the answer was complete")
        case CURLE_UNSUPPORTED_PROTOCOL, CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP_RETURNED_ERROR:
            (.notHTTP, "\(server) did not send an HTTP response")
        default:
            (.internal, "the request to \(server) failed (libcurl \(code.rawValue))")
        }
    }
}
