import BrokerModel
import Testing

@Suite("Scopes")
struct ScopesTests {
    @Test("scopes are compared without case, order, duplicates and white space")
    func normalization() {
        let scopes = Scopes(["User.Read", " mail.read  user.read", "", "\tMail.Send\n"])
        #expect(scopes.normalized == ["mail.read", "mail.send", "user.read"])
        #expect(scopes == Scopes(["MAIL.SEND", "mail.read", "user.read"]))
        #expect(scopes.hashValue == Scopes(["MAIL.SEND", "mail.read", "user.read"]).hashValue)
        #expect(scopes != Scopes(["mail.send", "mail.read"]))
    }

    @Test("scopes are sent as given, in the first spelling of each")
    func asGiven() {
        let scopes = Scopes(["User.Read", "mail.read user.read", "Mail.Read"])
        #expect(scopes.asGiven == ["User.Read", "mail.read"])
        #expect(scopes.parameter == "User.Read mail.read")
        #expect(Scopes(parameter: scopes.parameter) == scopes)
    }

    @Test("an empty set is a subset of every set")
    func empty() {
        for scopes in [Scopes([]), Scopes([""]), Scopes(parameter: "  \n ")] {
            #expect(scopes.isEmpty)
            #expect(scopes.parameter == "")
            #expect(scopes.isSubset(of: Scopes(["a"])))
            #expect(scopes.isSubset(of: Scopes([])))
        }
    }

    @Test("canonically equivalent scopes are kept once")
    func forms() {
        for words in [
            ["\u{e9}", "\u{c9}a", "e\u{301}"], ["e\u{301}", "\u{e9}k", "E\u{301}"], ["\u{c9}", "\u{e9}a", "E\u{301}"],
        ] {
            for order in [words, words.reversed(), [words[1], words[2], words[0]]] {
                #expect(Scopes(order).asGiven.count == 2 && Scopes(order).normalized.count == 2, "\(order)")
            }
        }
    }

    @Test("a set is a subset only if the other contains all its scopes")
    func subsets() {
        let granted = Scopes(["Mail.Read", "Mail.Send", "User.Read"])
        #expect(Scopes(["user.read", "MAIL.SEND"]).isSubset(of: granted))
        #expect(granted.isSubset(of: granted))
        #expect(!Scopes(["user.read", "files.read"]).isSubset(of: granted))
        #expect(!granted.isSubset(of: Scopes(["user.read"])))
        #expect(!Scopes(["mail"]).isSubset(of: granted), "a beginning is not a scope")
    }

    @Test("union and difference ignore case and keep the spelling")
    func arithmetic() {
        let scopes = Scopes(["Mail.Read", "User.Read"])
        #expect(scopes.union(Scopes(["USER.READ", "openid"])).asGiven == ["Mail.Read", "User.Read", "openid"])
        #expect(scopes.subtracting(Scopes(["mail.READ"])).asGiven == ["User.Read"])
        #expect(scopes.subtracting(scopes).isEmpty)
    }
}
