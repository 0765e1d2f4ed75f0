import BrokerValues
import CCurl

/// Sets the options of one request, and remembers whether libcurl accepted all of them.
struct CurlOptions {
    private let easy: UnsafeMutableRawPointer
    private(set) var areAccepted = true

    init(of easy: UnsafeMutableRawPointer) { self.easy = easy }

    mutating func note(_ code: CURLcode) { areAccepted = code == CURLE_OK && areAccepted }

    private mutating func set(_ option: CURLoption, _ value: Int) { note(ccurl_set_long(easy, option, value)) }

    private mutating func set(_ option: CURLoption, _ value: String?) { note(ccurl_set_string(easy, option, value)) }

    private mutating func set(_ option: CURLoption, _ bytes: [UInt8]) {
        note(ccurl_set_blob(easy, option, bytes, bytes.count))
    }

    mutating func setAddress(_ url: WebURL, version: String) {
        set(CURLOPT_URL, url.text)
        note(ccurl_set_scheme(easy, url.isSecure))
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_NOSIGNAL, 1)
        note(ccurl_set_quick_exit(easy))
        set(CURLOPT_NETRC, 0)
        // Some servers compress unasked: then libcurl decodes, and the decoded bytes are counted.
        set(CURLOPT_ACCEPT_ENCODING, "identity")
        set(CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_2TLS)
        set(CURLOPT_USERAGENT, "token-broker/\(version)")
    }

    /// - Parameter longestIdle: for a connection that it may use, in whole seconds.
    mutating func setTimes(connect: Duration, total: Duration, longestIdle: Duration) {
        set(CURLOPT_CONNECTTIMEOUT_MS, connect.milliseconds)
        set(CURLOPT_TIMEOUT_MS, total.milliseconds)
        set(CURLOPT_MAXAGE_CONN, longestIdle.milliseconds / 1000)
        // A kept connection may be dead without notice: the network is gone or has changed.
        note(ccurl_set_unacknowledged(easy, UInt32(connect.milliseconds)))
    }

    mutating func setTrust(_ trust: CertificateTrust) {
        set(CURLOPT_SSL_VERIFYPEER, 1)
        set(CURLOPT_SSL_VERIFYHOST, 2)
        set(CURLOPT_SSLVERSION, Int(CURL_SSLVERSION_TLSv1_2))
        set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        if let directory = trust.directory {
            set(CURLOPT_CAINFO, nil)
            set(CURLOPT_CAPATH, directory)
            set(CURLOPT_PROXY_CAINFO, nil)
            set(CURLOPT_PROXY_CAPATH, directory)
        }
        if let pem = trust.pem {
            set(CURLOPT_CAINFO_BLOB, pem)
            set(CURLOPT_PROXY_CAINFO_BLOB, pem)
        }
    }

    /// Empty means none; if unset, libcurl would read the environment.
    mutating func setProxy(_ proxy: Proxy?) {
        set(CURLOPT_PROXY, proxy?.address ?? "")
        set(CURLOPT_NOPROXY, "")
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    mutating func setMethod(of request: HTTPRequest) {
        guard request.method == .post else { return set(CURLOPT_HTTPGET, 1) }
        set(CURLOPT_POST, 1)
        _ = ccurl_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, request.body?.count ?? 0)
    }
}

extension Duration {
    var milliseconds: Int {
        Int(components.seconds) * 1000 + Int(components.attoseconds / 1_000_000_000_000_000)
    }
}
