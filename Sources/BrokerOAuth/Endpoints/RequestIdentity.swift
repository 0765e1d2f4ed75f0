import BrokerModel
import BrokerValues

/// What requests to Microsoft's servers say of themselves, as MSAL does it. Other providers are sent none of it: there the
/// correlation id is the broker's alone.
enum RequestIdentity {
    static func headers(correlationID: String?, home: HomeAccountID? = nil, at authority: Authority) -> [HTTPHeader] {
        guard authority.rules.takesRequestID else { return [] }
        // Which answers this client understands: a pause that is asked for, also with status 429.
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
