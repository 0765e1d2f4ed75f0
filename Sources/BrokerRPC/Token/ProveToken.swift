import BrokerValues

package enum ProveToken: AppMethod {
    package static let name = "token.proof"
    package static let summary = "A proof for one call of an API with a DPoP token."
    package static let description = """
        The value of the header DPoP (RFC 9449, section 4.2), made for one method and URL and for one token; each call of \
        the API needs a new one. The signing key stays in the broker. An API that answers use_dpop_nonce requires the \
        nonce of its header DPoP-Nonce in the next one.
        """
    package static let isIdempotent = true
    package static let right: SandboxRight? = .token
    package static let errors: [ErrorKind] = [
        .interactionRequired, .ambiguousAccount, .accountNotFound, .appNotFound, .accessDenied, .grantRequired,
        .invalidParameter,
        .invalidAuthority,
    ]
    package static let resultName = "proof"
    package typealias Result = IssuedProof

    package struct Params: AppParams {
        package var selection = AppSelection()
        package var account: AccountReference?
        package var tokenType = TokenType.dpop
        package var httpMethod = ""
        package var url = ""
        package var nonce: String?
        package var accessToken: String?

        package var reach: AppReach { .account(account) }

        package init() {}

        package init(_ app: AppReference, httpMethod: String, url: String) {
            self.httpMethod = httpMethod
            self.url = url
            selection = AppSelection(app)
        }

        package static let members: [Member<Params>] =
            appMembers(\.selection) + [
                .optional("account", \.account, "May be left out when exactly one account fits."),
                .defaulted("tokenType", \.tokenType, "DPoP; there are no proofs for others.", to: .dpop),
                .required("httpMethod", \.httpMethod, "The HTTP method, such as GET.", .word(atMost: 32)),
                .required(
                    "url", \.url, "The URL of the call; query and fragment are left out of the proof.",
                    .text(atMost: 8192)),
                .optional("nonce", \.nonce, "From the API's header DPoP-Nonce.", .word(atMost: 1024)),
                .optional(
                    "accessToken", \.accessToken,
                    "The token sent with the proof. Absent: the account's newest valid DPoP token.",
                    .text(atMost: 65_536)),
            ]

        package static var takesOtherAuthority: Bool { true }

        package func check() throws(WireError) {
            guard tokenType == .dpop else { throw WireError("must be DPoP", field: "tokenType") }
        }
    }
}

extension IssuedProof: MessageObject {
    package init() { self.init(proof: "", keyThumbprint: "") }

    package static let members: [Member<IssuedProof>] = [
        .required("proof", \.proof, "Value of the HTTP header DPoP."),
        .required("keyThumbprint", \.keyThumbprint, "The thumbprint of the signing key (RFC 7638)."),
    ]
}
