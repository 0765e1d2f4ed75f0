import BrokerModel
import BrokerValues

/// The headers by which requests to Microsoft's servers identify themselves, as in MSAL. Other providers do not receive
/// them: there the correlation id stays within the broker.
enum RequestIdentity {
    static func headers(correlationID: String?, home: HomeAccountID? = nil, at authority: Authority) -> [HTTPHeader] {
        guard authority.rules.takesRequestID else { return [] }
        // The client honors a requested pause, also with status 429.
        var headers = [HTTPHeader("x-ms-lib-capability", "retry-after, h429")]
        if let correlationID {
            headers += [HTTPHeader("client-request-id", correlationID), HTTPHeader("return-client-request-id", "true")]
        }
        if let home, let tenant = home.homeTenant {
            let user = home.rawValue.dropLast(tenant.utf8.count + 1)
            headers.append(HTTPHeader("X-AnchorMailbox", "Oid:\(user)@\(tenant)"))
        }
        return headers
    }
}
