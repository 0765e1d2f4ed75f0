import BrokerClient

/// `brokerctl token` as scripts say it, read without the parser: that takes longer to lay out one subcommand than the broker takes to
/// answer, and scripts ask again and again (docs/performance.md).
struct UsualTokenWords {
    private(set) var socket: String?
    private(set) var json = false
    private var requested = RequestedApp()
    private var account: AccountName?
    private var printing = TokenPrinting()

    /// - Returns: nil for whatever is not as usual: the parser knows more, and how to say what is wrong.
    init?(_ words: [String]) {
        var words = UsualWords(words)
        var isToken = false
        while let word = words.next() {
            switch word {
            case "token" where !isToken: isToken = true
            case "--json" where !json: json = true
            case "--socket" where socket == nil:
                guard let path = words.value() else { return nil }
                socket = path
            case "--app" where isToken && requested.app == nil:
                guard let app = words.value() else { return nil }
                requested.app = app
            case "--scope" where isToken && requested.scopes.isEmpty:
                while let scope = words.value() { requested.scopes.append(scope) }
                guard !requested.scopes.isEmpty else { return nil }
            case "--account" where isToken && account == nil:
                guard let name = words.value() else { return nil }
                account = AccountName(argument: name)
            case "--format" where isToken && printing.format == nil:
                guard let name = words.value(), let known = TokenFormat(rawValue: name) else { return nil }
                printing.format = known
            default: return nil
            }
        }
        guard isToken, requested.app != nil else { return nil }
    }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let login = GlobalOptions.words(socket: socket) + ["login"] + requested.words
        var asking = SilentAsking(account: account, login: login)
        try requested.fill(&asking.params, on: context.connection)
        try printing.print(asking, in: context)
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
