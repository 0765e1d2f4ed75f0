import BrokerModel
import BrokerValues
import CCurl
import Glibc

/// One request in progress: a libcurl easy handle and the bytes received so far. Used by the loop's thread only.
final class CurlTransfer {
    let easy: UnsafeMutableRawPointer
    let submission: Submission
    /// The URL without its query.
    let endpoint: String
    var issuer: String { submission.request.issuer }
    private let settings: TransferSettings
    private let proxy: Proxy?
    /// libcurl reads them until the transfer ends.
    private var headerLines: HeaderLines?
    private let errorText: UnsafeMutablePointer<CChar>
    /// The check that libcurl calls before it connects.
    private let addressCheck: UnsafeMutablePointer<ccurl_address_check>

    private var sentBodyBytes = 0
    /// How often the request was about to be sent. Above one, libcurl found a kept connection dead and tries another.
    private var attempts = 0
    private var headers: [String: [String]] = [:]
    private var headerBytes = 0
    private var body: [UInt8] = []
    /// Why one of our callbacks stopped the transfer.
    private var ownFailure: HTTPFailure?

    private static let largestHeader = 64 << 10

    /// `nil` if libcurl rejects one of the settings; the caller then still owns the continuation.
    ///
    /// - Parameter longestIdle: the limit for a connection that it may use, in whole seconds.
    init?(_ submission: Submission, settings: TransferSettings, longestIdle: Duration) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.submission = submission
        endpoint = String(submission.url.text.prefix { $0 != "?" })
        self.settings = settings
        proxy = settings.configuration.proxies.proxy(for: submission.url)
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        addressCheck = .allocate(capacity: 1)
        addressCheck.initialize(to: ccurl_address_check())
        guard configure(longestIdle) else { return nil }
    }

    deinit {
        curl_easy_cleanup(easy)
        errorText.deallocate()
        addressCheck.deallocate()
    }

    // MARK: Settings

    private func configure(_ longestIdle: Duration) -> Bool {
        guard let lines = HeaderLines(submission.request.headers) else { return false }
        headerLines = lines
        let configuration = settings.configuration
        var options = CurlOptions(of: easy)
        options.setAddress(submission.url, version: configuration.version)
        options.setTimes(connect: configuration.connectTimeout, total: timeLimit, longestIdle: longestIdle)
        options.setTrust(settings.authorities.now)
        options.setProxy(proxy)
        options.setMethod(of: submission.request)
        options.note(ccurl_set_pointer(easy, CURLOPT_HTTPHEADER, lines.list))
        setCallbacks(&options)
        return options.areAccepted
    }

    /// - Parameter share: the issuer's connections.
    func connects(by share: UnsafeMutableRawPointer) -> Bool {
        ccurl_set_pointer(easy, CURLOPT_SHARE, share) == CURLE_OK
    }

    private var timeLimit: Duration {
        settings.configuration.totalTimeout * (submission.request.takesLateAnswer ? 2 : 1)
    }

    /// The wait in the queue counts toward the time limit.
    ///
    /// - Returns: whether any time is left.
    func hasTimeLeft(after waiting: Duration) -> Bool {
        let left = timeLimit - waiting
        return left > .zero && ccurl_set_long(easy, CURLOPT_TIMEOUT_MS, max(1, left.milliseconds)) == CURLE_OK
    }

    private func setCallbacks(_ options: inout CurlOptions) {
        let context = Unmanaged.passUnretained(self).toOpaque()
        addressCheck.pointee.context = context
        addressCheck.pointee.allows = { context, address in
            CurlTransfer.from(context)?.mayConnect(to: address.flatMap { IPAddress($0) }) == true ? 1 : 0
        }
        options.note(
            ccurl_set_data_callback(easy, CURLOPT_READFUNCTION) { CurlTransfer.from($3)?.send($0, $1 &* $2) ?? 0 })
        options.note(ccurl_set_pointer(easy, CURLOPT_READDATA, context))
        options.note(
            ccurl_set_data_callback(easy, CURLOPT_WRITEFUNCTION) { CurlTransfer.from($3)?.receive($0, $1 &* $2) ?? 0 })
        options.note(ccurl_set_pointer(easy, CURLOPT_WRITEDATA, context))
        options.note(
            ccurl_set_data_callback(easy, CURLOPT_HEADERFUNCTION) { CurlTransfer.from($3)?.header($0, $1 &* $2) ?? 0 })
        options.note(ccurl_set_pointer(easy, CURLOPT_HEADERDATA, context))
        options.note(
            ccurl_set_prereq_callback(easy) { context, remote, _, _, _ in
                let transfer = CurlTransfer.from(context)
                let mayGo = transfer?.maySend(to: remote.map { String(cString: $0) } ?? "") ?? false
                return mayGo ? Int32(CURL_PREREQFUNC_OK) : Int32(CURL_PREREQFUNC_ABORT)
            })
        options.note(ccurl_set_pointer(easy, CURLOPT_PREREQDATA, context))
        options.note(ccurl_set_address_check(easy, addressCheck))
        options.note(ccurl_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText))
    }

    // MARK: Callbacks

    private static func from(_ context: UnsafeMutableRawPointer?) -> CurlTransfer? {
        context.map { Unmanaged<CurlTransfer>.fromOpaque($0).takeUnretainedValue() }
    }

    /// Called for each address of a name, before it is tried.
    private func mayConnect(to address: IPAddress?) -> Bool {
        let (configuration, url) = (settings.configuration, submission.url)
        // A proxy may have any address, and looks names up itself.
        if proxy != nil || address?.isPublic == true { return true }
        guard configuration.reachesPrivateAddresses(submission.request.issuer) else {
            ownFailure = HTTPFailure(
                .notAllowed, mayHaveBeenSent: false,
                "\(url.server) is on this machine or on a private network, where only registered apps' providers may be "
                    + "(access.allow_private_authorities)")
            return false
        }
        return true
    }

    /// Called when the connection is established and nothing of the request has been sent on it.
    private func maySend(to remoteAddress: String) -> Bool {
        // The connection may date from a time when its issuer was allowed more.
        guard mayConnect(to: IPAddress(remoteAddress)) else { return false }
        if !submission.url.isSecure, IPAddress(remoteAddress)?.isLoopback != true {
            ownFailure = HTTPFailure(
                .notAllowed, mayHaveBeenSent: false,
                "\(submission.url.server) is not on this machine, and http is for loopback only")
            return false
        }
        if attempts > 0, !submission.request.isRepeatable {
            ownFailure = HTTPFailure(
                .connectionLost, mayHaveBeenSent: true,
                "\(submission.url.server) closed the connection before it answered")
            return false
        }
        attempts += 1
        return true
    }

    private func send(_ buffer: UnsafeMutablePointer<CChar>?, _ capacity: Int) -> Int {
        guard let buffer, let body = submission.request.body else { return 0 }
        let count = min(capacity, body.count - sentBodyBytes)
        guard count > 0 else { return 0 }
        body.withBytes { bytes in
            UnsafeMutableRawBufferPointer(start: buffer, count: count)
                .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[sentBodyBytes..<(sentBodyBytes + count)]))
        }
        sentBodyBytes += count
        return count
    }

    private func receive(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes else { return 0 }
        guard count <= settings.configuration.largestAnswer - body.count else {
            return tooLarge("answer", settings.configuration.largestAnswer)
        }
        body.append(contentsOf: UnsafeRawBufferPointer(start: bytes, count: count))
        return count
    }

    private func header(_ bytes: UnsafeMutablePointer<CChar>?, _ count: Int) -> Int {
        guard let bytes else { return 0 }
        headerBytes += count
        guard headerBytes <= Self.largestHeader else { return tooLarge("header", Self.largestHeader) }
        let line = UnsafeRawBufferPointer(start: bytes, count: count)
        if line.starts(with: "HTTP/".utf8) {
            // The final response after an interim one (RFC 9110, section 15.2).
            headers = [:]
            closeAfterServerError(line)
        } else if let field = HeaderField(line) {
            headers[field.name, default: []].append(field.value)
        }
        return count
    }

    /// The host's name may refer to another machine by now, which a kept connection never reaches. So after a status of 500 or
    /// more the next request opens a new connection.
    private func closeAfterServerError(_ statusLine: UnsafeRawBufferPointer) {
        guard let blank = statusLine.firstIndex(of: UInt8(ascii: " ")), blank + 1 < statusLine.endIndex,
            statusLine[blank + 1] == UInt8(ascii: "5")
        else { return }
        _ = ccurl_set_long(easy, CURLOPT_FORBID_REUSE, 1)
    }

    /// Any number except the given one makes libcurl stop.
    private func tooLarge(_ part: String, _ bound: Int) -> Int {
        ownFailure = HTTPFailure(
            .tooLarge, mayHaveBeenSent: true, "\(submission.url.server) sent more than \(bound) bytes of \(part)")
        return -1
    }

    // MARK: The end

    func finish(_ code: CURLcode) {
        if code == CURLE_OK {
            var status = 0
            _ = ccurl_get_long(easy, CURLINFO_RESPONSE_CODE, &status)
            let response = HTTPResponse(status: status, headers: headers, body: body)
            return submission.continuation.resume(returning: .success(response))
        }
        let failure =
            proxyFailure(code)
            ?? HTTPFailure(
                code, server: submission.url.server, mayHaveBeenSent: attempts > 0, certificate: certificateFault,
                detail: String(cString: errorText), seconds: timeLimit.milliseconds / 1000)
        submission.continuation.resume(returning: .failure(ownFailure ?? failure))
    }

    /// OpenSSL's finding, if the certificate failed.
    private var certificateFault: CertificateFault {
        var result = 0
        _ = ccurl_get_long(easy, CURLINFO_SSL_VERIFYRESULT, &result)
        return CertificateFault(verifyResult: result)
    }

    /// `nil` if there is no proxy, or if the proxy has done its part.
    private func proxyFailure(_ code: CURLcode) -> HTTPFailure? {
        guard let proxy, attempts == 0 else { return nil }
        var (status, refusal) = (0, 0)
        _ = ccurl_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status)
        _ = ccurl_get_long(easy, CURLINFO_PROXY_ERROR, &refusal)
        return HTTPFailure(
            code, of: proxy, server: submission.url.server, status: status, refusal: CURLproxycode(UInt32(refusal)))
    }

    func cancelled() {
        submission.continuation.resume(returning: .failure(.cancelled(mayHaveBeenSent: attempts > 0)))
    }
}
