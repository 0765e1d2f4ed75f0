import BrokerModel
import BrokerValues

extension OAuthProvider {
    package func authorizeDevice(
        _ request: DeviceAuthorizationRequest, as client: ClientCredentials, at metadata: ProviderMetadata
    ) async throws(ProviderError) -> DeviceAuthorization {
        let endpoint = try endpoint(
            metadata.deviceAuthorizationEndpoint, for: "sign-in on another device", of: metadata)
        var form = ClientForm()
        form.body.add("scope", request.scopes.parameter)
        if let claims = request.claims { form.body.add("claims", claims) }
        for resource in request.resources { form.body.add(metadata.resourceParameter, resource) }
        // Parameters for a browser page are left out.
        let excluded = AuthorizationRequest.reservedParameters.subtracting(["audience"])
        for (name, value) in request.parameters.sorted(by: { $0.key < $1.key })
        where !excluded.contains(name.lowercased()) {
            form.body.add(name, value)
        }
        form.headers += RequestIdentity.headers(correlationID: request.correlationID, at: metadata.authority)
        let answer = try await answer(to: form.request(to: endpoint, as: client, at: metadata), from: endpoint)
        return try DeviceAuthorization(answer, pages: EndpointRule(authority: metadata.authority))
    }
}

extension DeviceAuthorization {
    /// RFC 8628, section 3.2. Text that the user reads or opens is checked: the code must be printable text, and the pages
    /// must be where the provider may send the user.
    fileprivate init(_ answer: EndpointAnswer, pages: EndpointRule) throws(ProviderError) {
        let object = try answer.object(statuses: [200], expected: "a device code or an OAuth error")
        guard let deviceCode = object.secret("device_code"), deviceCode.count <= 8192 else {
            throw answer.incomplete("holds no device code")
        }
        guard let userCode = object["user_code"]?.stringValue, !userCode.isEmpty,
            SafeText(userCode, atMost: Self.longestUserCode).text == userCode
        else { throw answer.incomplete("holds no code that a person could type") }
        // Google used this name before the standard was published.
        let page = object["verification_uri"] ?? object["verification_url"]
        guard let page = page?.stringValue.flatMap(pages.acceptedPage) else {
            throw answer.incomplete("names no https page for the code")
        }
        guard let expiresIn = object.duration("expires_in"), expiresIn > 0 else {
            throw answer.incomplete("does not say when the code expires")
        }
        // A user who scans it as a QR code does not see its target and trusts the address next to it.
        let complete = object["verification_uri_complete"]?.stringValue.flatMap(pages.acceptedPage)
            .flatMap { $0.origin == page.origin ? $0 : nil }
        self.init(
            deviceCode: deviceCode, userCode: userCode, verificationURI: HandOver.address(page.text),
            verificationURIComplete: complete.map { HandOver.address($0.text) }, expiresIn: expiresIn,
            interval: max(object.duration("interval") ?? 5, 1),
            message: object["message"]?.stringValue.map { SafeText($0, atMost: 1000).text })
    }

    private static let longestUserCode = 64
}
