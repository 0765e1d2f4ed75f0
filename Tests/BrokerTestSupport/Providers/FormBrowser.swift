import Foundation

/// An HTML form as a person would fill it in.
package struct Form: Sendable {
    package var action: String
    package var method: String
    /// The values to send: hidden and text inputs; buttons only if pressed.
    package var fields: [String: String]
    /// Boxes that are checked; several may share a name.
    package var checked: [(name: String, value: String)]
    private var buttons: [String: String]

    /// Presses the first button of this name.
    package mutating func press(named name: String) { fields[name] = buttons[name, default: ""] }

    /// The page's first form that is not merely a link; `nil` if it has none.
    ///
    /// Sufficient for the plain forms of the test providers, not for HTML in general.
    package init?(page: String) {
        guard let form = page.firstMatch(of: /(?is)<form\b([^>]*)>(.*?)<\/form>/) else { return nil }
        let head = Self.attributes(String(form.1))
        action = head["action"] ?? ""
        method = (head["method"] ?? "get").uppercased()
        (fields, checked, buttons) = ([:], [], [:])
        for tag in String(form.2).matches(of: /(?is)<(input|button)\b([^>]*)>/) {
            let attributes = Self.attributes(String(tag.2))
            guard let name = attributes["name"] else { continue }
            let type = (attributes["type"] ?? (tag.1.lowercased() == "button" ? "submit" : "text")).lowercased()
            if type == "submit" {
                buttons[name] = buttons[name] ?? attributes["value"] ?? ""
            } else if type == "checkbox" {
                if attributes["checked"] != nil { checked.append((name, attributes["value"] ?? "on")) }
            } else {
                fields[name] = attributes["value"] ?? ""
            }
        }
    }

    private static func attributes(_ text: String) -> [String: String] {
        var attributes: [String: String] = [:]
        for match in text.matches(of: /([\w-]+)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+)))?/) {
            let value = match.2 ?? match.3 ?? match.4 ?? ""
            attributes[match.1.lowercased()] = String(value).replacing("&quot;", with: "\"").replacing(
                "&#x27;", with: "'"
            )
            .replacing("&lt;", with: "<").replacing("&gt;", with: ">").replacing("&amp;", with: "&")
        }
        return attributes
    }
}

/// A browser without a window for providers whose pages are plain HTML forms.
package struct FormBrowser: Sendable {
    package var session: HTTPSession
    /// `scheme://host:port` of the provider; a redirect to anywhere else ends the visit.
    package var home: String

    package init(session: HTTPSession, home: String) {
        self.session = session
        self.home = home
    }

    /// Goes from page to page, calls `fill` for each form and submits it, until the provider redirects elsewhere.
    package func visit(_ url: String, fill: (inout Form) throws -> Void) async throws -> ProviderRedirect {
        var (url, method, body) = (url, "GET", HTTPSession.Body?.none)
        for _ in 0..<12 {
            let reply = try await session.send(method, url, body: body)
            if let location = reply.header("location") {
                url = try resolve(location, against: url)
                guard url.hasPrefix("\(home)/") else { return ProviderRedirect(url: url) }
                (method, body) = ("GET", nil)
                continue
            }
            guard reply.status == 200, var form = Form(page: reply.text) else {
                throw ProcessFailure("A page without a form, status \(reply.status): \(reply.text.prefix(500))")
            }
            try fill(&form)
            let fields = form.fields.map { (name: $0.key, value: $0.value) } + form.checked
            if !form.action.isEmpty { url = try resolve(form.action, against: url) }
            (method, body) = (form.method, .form(fields))
        }
        throw ProcessFailure("The provider's pages did not come to an end.")
    }

    private func resolve(_ reference: String, against base: String) throws -> String {
        guard let base = URL(string: base), let url = URL(string: reference, relativeTo: base) else {
            throw ProcessFailure("Not a URL: \(reference)")
        }
        return url.absoluteString
    }
}
