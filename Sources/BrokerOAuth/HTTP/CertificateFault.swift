/// Why a server's certificate is not accepted: each calls for another remedy.
package enum CertificateFault: Sendable, Equatable {
    /// It, or the authority that signed it, is out of date, or not valid yet.
    case outOfDate
    /// It is for another name.
    case otherName
    /// Nobody who is trusted signed it.
    case unknownAuthority

    /// - Parameter verifyResult: of X509_verify_cert(3): 9 and 10 for the period of validity. The name is compared by libcurl, after
    ///   OpenSSL found nothing wrong and before libcurl takes that result over from its initial value, 1.
    init(verifyResult: Int) {
        self =
            switch verifyResult {
            case 0, 1: .otherName
            case 9, 10: .outOfDate
            default: .unknownAuthority
            }
    }

    /// Sentences for the person. To trust another authority helps in one case only, and is a danger in the others.
    var advice: String {
        switch self {
        case .outOfDate:
            "Check this machine's clock; if it is right, who runs the provider has to renew the certificate."
        case .otherName:
            "Another server than the provider's answers: a network's sign-in page, perhaps, or the authority's address is wrong."
        case .unknownAuthority:
            "If your organization runs the provider and has a certificate authority of its own, set oauth.ca_file (--ca-file) to it. If not, "
                + "something on the network may stand in for the provider; try another network."
        }
    }
}
