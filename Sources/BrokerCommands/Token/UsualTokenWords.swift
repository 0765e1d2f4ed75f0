extension TokenCommand {
    /// `token` as scripts say it, read without the parser: that takes longer to lay out one subcommand than the broker takes to
    /// answer, and scripts ask again and again (docs/performance.md).
    ///
    /// - Returns: nil for whatever is not as usual: the parser knows more, and how to say what is wrong.
    init?(usualWords words: [String]) {
        var words = UsualWords(words)
        var (global, request, options) = (GlobalOptions(), RequestOptions(), TokenOptions())
        self.init()
        (global.socket, global.json) = (nil, false)
        (request.app, request.clientID, request.authority, request.scopes) = (nil, nil, nil, [])
        (options.resources, options.claims, options.capabilities) = ([], nil, [])
        (options.instanceAware, options.tokenType, options.correlationID) = (false, .bearer, nil)
        (account, format, show, minimumLifetime, forceRefresh) = (nil, nil, false, nil, false)
        var isToken = false
        while let word = words.next() {
            switch word {
            case "token" where !isToken: isToken = true
            case "--json" where !global.json: global.json = true
            case "--socket" where global.socket == nil:
                guard let path = words.value() else { return nil }
                global.socket = path
            case "--app" where isToken && request.app == nil:
                guard let app = words.value() else { return nil }
                request.app = app
            case "--scope" where isToken && request.scopes.isEmpty:
                while let scope = words.value() { request.scopes.append(scope) }
                guard !request.scopes.isEmpty else { return nil }
            case "--account" where isToken && account == nil:
                guard let name = words.value() else { return nil }
                account = AccountName(argument: name)
            case "--format" where isToken && format == nil:
                guard let name = words.value(), let known = TokenFormat(rawValue: name) else { return nil }
                format = known
            default: return nil
            }
        }
        guard isToken, request.app != nil else { return nil }
        (self.global, self.request, self.options) = (global, request, options)
    }
}

/// Words from left to right.
private struct UsualWords {
    private var rest: ArraySlice<String>

    init(_ words: [String]) { rest = words[...] }

    mutating func next() -> String? { rest.popFirst() }

    /// The next word, unless it may be an option.
    mutating func value() -> String? {
        guard let word = rest.first, !word.utf8.starts(with: "-".utf8) else { return nil }
        return rest.popFirst()
    }
}
