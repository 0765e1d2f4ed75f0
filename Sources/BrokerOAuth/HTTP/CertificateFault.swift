/// Why a server's certificate is not accepted: each cause has another remedy.
package enum CertificateFault: Sendable, Equatable {
    /// The certificate, or the authority that signed it, has expired or is not valid yet.
    case outOfDate
    /// It is for another name.
    case otherName
    /// It is not signed by a trusted authority.
    case unknownAuthority

    /// - Parameter verifyResult: of X509_verify_cert(3): 9 and 10 for the validity period. libcurl compares the name after OpenSSL
    ///   found no error and before it takes that result over from its initial value, 1.
    init(verifyResult: Int) {
        self =
            switch verifyResult {
            case 0, 1: .otherName
            case 9, 10: .outOfDate
            default: .unknownAuthority
            }
    }

    /// Sentences for the user. Trusting another authority helps in one case only, and is dangerous in the others.
    var advice: String {
        switch self {
        case .outOfDate:
            "Check this machine's clock; if it is right, the provider's operator must renew the certificate."
        case .otherName:
            "Another server than the provider's answers: perhaps a network's sign-in page, or the authority's URL is wrong."
        case .unknownAuthority:
            "If your organization runs the provider and has a certificate authority of its own, set oauth.ca_file (--ca-file) to it. If not, "
                + "something on the network may stand in for the provider; try another network."
        }
    }
}
