import Foundation
import FoundationNetworking

/// A person without a display: opens the page, fills in the development provider's form, and ends at the broker's own
/// page like a browser.
struct ScriptedPerson: Sendable {
    let username: String
    let password: String

    /// - Returns: the title of the last page.
    func signIn(at address: String) async throws -> String {
        let session = URLSession(configuration: .ephemeral)
        defer { session.finishTasksAndInvalidate() }
        guard let url = URL(string: address) else { throw Unexpected("the sign-in page has no address") }
        var page = String(decoding: try await session.data(from: url).0, as: UTF8.self)
        if let transaction = Self.between("name=\"transaction\" value=\"", "\"", in: page),
            let action = Self.between("<form method=\"post\" action=\"", "\"", in: page),
            let target = URL(string: action, relativeTo: url)
        {
            var request = URLRequest(url: target)
            request.httpMethod = "POST"
            request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
            var form = URLComponents()
            form.queryItems = [
                URLQueryItem(name: "transaction", value: transaction), URLQueryItem(name: "username", value: username),
                URLQueryItem(name: "password", value: password),
            ]
            request.httpBody = Data((form.percentEncodedQuery ?? "").utf8)
            page = String(decoding: try await session.data(for: request).0, as: UTF8.self)
        }
        return Self.between("<title>", "</title>", in: page) ?? "a page without a title"
    }

    private static func between(_ start: String, _ end: String, in text: String) -> String? {
        guard let from = text.range(of: start), let to = text.range(of: end, range: from.upperBound..<text.endIndex)
        else { return nil }
        return String(text[from.upperBound..<to.lowerBound])
    }
}
