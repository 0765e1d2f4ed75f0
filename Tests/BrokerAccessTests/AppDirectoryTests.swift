import BrokerAccess
import BrokerModel
import BrokerValues
import Testing

@Suite("Registered apps")
struct AppDirectoryTests {
    @Test("a registration survives a restart, client secret included")
    func persistence() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.group = "office"
        app.scopes = ["mail.read"]
        app.redirectURI = "http://127.0.0.1:7777/cb"
        app.executables = ["/usr/bin/mail"]
        app.units = ["mail.service"]
        app.sandboxIDs = ["org.example.Mail"]
        app.clientSecret = Secret("hush")
        app.secretMethod = .post
        try await bed.directory.register(app, in: AccessBed.partition)
        let reopened = try await bed.reopened()
        #expect(try reopened.app(named: "mail", in: AccessBed.partition) == app)
    }

    @Test("an app of several clouds stays one app after a restart")
    func instanceAware() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.authority = try Authority(
            parsing: "https://login.microsoftonline.com/common", allowHTTPLoopback: false)
        app.isInstanceAware = true
        try await bed.directory.register(app, in: AccessBed.partition)
        #expect(try await bed.reopened().app(named: "mail", in: AccessBed.partition) == app)
    }

    @Test("an app of several clouds must be of Entra, and without a client secret", arguments: [true, false])
    func instanceAwareElsewhere(hasSecret: Bool) async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.isInstanceAware = true
        if hasSecret {
            app.authority = try Authority(
                parsing: "https://login.microsoftonline.com/common", allowHTTPLoopback: false)
            app.clientSecret = Secret("hush")
        }
        let wrong = app
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(wrong, in: AccessBed.partition)
        }
        #expect(error?.kind == .invalidParameter)
        #expect(error?.message.contains("instanceAware") == true)
    }

    @Test("a person has at most a thousand apps, which can still be changed, and others have their own")
    func bound() async throws {
        let bed = try await AccessBed()
        for number in 0..<AppDirectory.maximumApps {
            try await bed.directory.register(AccessBed.app("app-\(number)"), in: AccessBed.partition)
        }
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(AccessBed.app("one-more"), in: AccessBed.partition)
        }
        #expect(error?.kind == .throttled)
        #expect(throws: BrokerError.self) {
            try bed.directory.check(draft: AccessBed.app("one-more"), in: AccessBed.partition)
        }
        let kept = try await bed.directory.restore(
            AppRecord(AccessBed.app("one-more")), clientSecret: nil, replacing: true, in: AccessBed.partition)
        #expect(kept.reasonKept != nil)
        try await bed.directory.register(AccessBed.app("app-7"), in: AccessBed.partition)
        try await bed.directory.register(AccessBed.app("one-more"), in: Partition(uid: 4_242))
        _ = try await bed.directory.remove(named: "app-0", in: AccessBed.partition)
        try await bed.directory.register(AccessBed.app("one-more"), in: AccessBed.partition)
    }

    @Test("registering again replaces the app, and drops a client secret that is not given again")
    func replacing() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.clientSecret = Secret("hush")
        try await bed.directory.register(app, in: AccessBed.partition)
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        #expect(try bed.directory.list(in: AccessBed.partition) == [AccessBed.app()])
        #expect(try await bed.reopened().list(in: AccessBed.partition) == [AccessBed.app()])
    }

    @Test("a registered name can be refused, and the error says what a replacement would drop")
    func taken() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.clientSecret = Secret("hush")
        app.group = "office"
        app.executables = ["/usr/bin/mail", "/usr/bin/mailx"]
        try await bed.directory.register(app, overPrevious: .isKept, in: AccessBed.partition)
        var other = AccessBed.app()
        other.executables = ["/usr/bin/mailx"]
        let taken = other
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(taken, overPrevious: .isKept, in: AccessBed.partition)
        }
        #expect(error?.kind == .invalidParameter)
        #expect(error?.details.app == "mail")
        for part in ["client secret", "group office", "(/usr/bin/mail)", "apps edit", "--replace"] {
            #expect(error?.message.contains(part) == true, "\(part)")
        }
        #expect(try bed.directory.list(in: AccessBed.partition) == [app])
    }

    @Test("a client secret can be kept while other fields change, also after a restart")
    func keptSecret() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.clientSecret = Secret("hush")
        app.secretMethod = .post
        try await bed.directory.register(app, in: AccessBed.partition)
        var edited = AccessBed.app()
        edited.group = "office"
        let kept = try await bed.directory.register(
            edited, overPrevious: .isReplacedKeepingSecret, in: AccessBed.partition)
        #expect(kept.clientSecret == app.clientSecret && kept.secretMethod == .post)
        #expect(try await bed.reopened().list(in: AccessBed.partition) == [kept])
    }

    @Test("a kept client secret does not go to another client or another provider", arguments: [true, false])
    func secretOfAnother(isOtherClient: Bool) async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        app.clientSecret = Secret("hush")
        try await bed.directory.register(app, in: AccessBed.partition)
        var other = AccessBed.app(authority: isOtherClient ? app.authority.url : "https://other.example")
        if isOtherClient { other.clientID = "another" }
        let edited = other
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(
                edited, overPrevious: .isReplacedKeepingSecret, in: AccessBed.partition)
        }
        #expect(error?.kind == .invalidParameter)
        #expect(try bed.directory.list(in: AccessBed.partition) == [app])
    }

    @Test("an app from a file hides the vault's app, cannot be changed, and goes with its file")
    func fileEntry() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        var entry = AppFileEntry(name: "mail", origin: "/etc/brokerd/apps.d/mail.toml:3")
        entry.description.clientID = "of-file"
        entry.authority = AccessBed.app().authority.url
        bed.directory.apply([entry])
        for partition in [AccessBed.partition, Partition(uid: 4711)] {
            let app = try #require(try bed.directory.app(named: "mail", in: partition))
            #expect(app.clientID == "of-file" && app.origin == entry.origin)
        }
        let changed = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        }
        let removed = await #expect(throws: BrokerError.self) {
            try await bed.directory.remove(named: "mail", in: AccessBed.partition)
        }
        for error in [changed, removed] {
            #expect(error?.kind == .invalidParameter)
            #expect(error?.message.contains("mail.toml:3") == true)
        }
        bed.directory.apply([])
        #expect(try bed.directory.list(in: AccessBed.partition) == [AccessBed.app()])
    }

    @Test("an invalid app from a file is ignored and logged")
    func unfitFileEntry() async throws {
        let bed = try await AccessBed()
        var entry = AppFileEntry(name: "mail", origin: "/etc/brokerd/apps.d/mail.toml:3")
        entry.description.clientID = "c"
        entry.description.executables = ["mail"]
        entry.authority = AccessBed.app().authority.url
        bed.directory.apply([entry])
        #expect(try bed.directory.app(named: "mail", in: AccessBed.partition) == nil)
        #expect(bed.log.text.contains("mail.toml:3"))
    }

    @Test("a client secret is kept if its provider's kind has changed since")
    func secretOfUseless() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app(authority: "https://login.corp.example/Contoso/v2.0")
        app.clientSecret = Secret("hush")
        try await bed.directory.register(app, in: AccessBed.partition)
        bed.directory.apply(AuthorityParser(kinds: ["login.corp.example": .adfs]))
        #expect(try bed.directory.app(named: "mail", in: AccessBed.partition) == nil)
        var edited = app
        edited.clientSecret = nil
        let wanted = edited
        await #expect(throws: BrokerError.self) {
            try await bed.directory.register(
                wanted, overPrevious: .isReplacedKeepingSecret, in: AccessBed.partition)
        }
        bed.directory.apply(AuthorityParser())
        #expect(try bed.directory.app(named: "mail", in: AccessBed.partition) == app)
    }

    @Test("apps are listed by name, and belong to their partition")
    func listing() async throws {
        let bed = try await AccessBed()
        for name in ["zebra", "ant", "mail"] {
            try await bed.directory.register(AccessBed.app(name), in: AccessBed.partition)
        }
        #expect(bed.directory.apps(in: AccessBed.partition).map(\.name) == ["ant", "mail", "zebra"])
        #expect(bed.directory.apps(in: Partition(uid: 1001)).isEmpty)
    }

    @Test("registrations are parsed again when hosts change to another kind of provider and back")
    func otherKinds() async throws {
        let bed = try await AccessBed()
        let app = AccessBed.app(authority: "https://login.corp.example/Contoso/v2.0")
        try await bed.directory.register(app, in: AccessBed.partition)
        func authority() throws -> Authority? {
            try bed.directory.app(named: "mail", in: AccessBed.partition)?.authority
        }
        #expect(try authority() == app.authority)
        bed.directory.apply(AuthorityParser(kinds: ["login.corp.example": .entra]))
        #expect(try authority()?.url == "https://login.corp.example/contoso")
        #expect(try authority()?.hasTenants == true)
        // The URL does not fit this kind: there is no such app until the table is corrected.
        bed.directory.apply(AuthorityParser(kinds: ["login.corp.example": .adfs]))
        #expect(try authority() == nil)
        bed.directory.apply(AuthorityParser())
        #expect(try authority() == app.authority)
    }

    @Test("changes and reloads update the registrations in memory, which are read from disk once")
    func readOnce() async throws {
        let bed = try await AccessBed()
        func names() throws -> [String] { try bed.directory.list(in: AccessBed.partition).map(\.name) }
        #expect(try names().isEmpty)
        let app = AccessBed.app(authority: "https://login.corp.example/Contoso/v2.0")
        try await bed.directory.register(app, in: AccessBed.partition)
        try await bed.directory.register(AccessBed.app("notes"), in: AccessBed.partition)
        #expect(try names() == ["mail", "notes"])
        _ = try await bed.directory.remove(named: "notes", in: AccessBed.partition)
        bed.directory.apply(AuthorityParser(kinds: ["login.corp.example": .entra]))
        let admitted = try bed.admit(bed.caller(), as: .registered("mail"))
        #expect(admitted.authority.url == "https://login.corp.example/contoso")
        #expect(try names() == ["mail"])
        #expect(bed.vault.readsOfAll == 1)
    }

    @Test("unreadable registrations are an error if group members are needed")
    func unreadable() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        bed.directory.forget()
        let group = AccessBed.app().effectiveGroup
        bed.vault.failReadingAll(.damaged("unreadable"))
        #expect(bed.directory.apps(in: AccessBed.partition).isEmpty)
        let error = #expect(throws: BrokerError.self) {
            try bed.directory.members(of: group, in: AccessBed.partition)
        }
        #expect(error?.reason == .vaultDamaged)
        bed.vault.failReadingAll(nil)
        let members = try bed.directory.members(of: group, in: AccessBed.partition)
        #expect(members == [GroupMember(AccessBed.app())])
    }

    @Test("an app whose authority does not fit its host's kind is logged, still shares, and can be removed")
    func useless() async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app(authority: "https://login.corp.example/contoso")
        app.group = "office"
        try await bed.directory.register(app, in: AccessBed.partition)
        try await bed.directory.register(AccessBed.app("notes"), in: AccessBed.partition)
        #expect(try bed.directory.list(in: AccessBed.partition).count == 2)
        let kinds = AuthorityParser(kinds: ["login.corp.example": .adfs])
        bed.directory.apply(kinds)
        bed.directory.apply(kinds)
        #expect(bed.log.values(of: "app") == ["mail"])
        #expect(try bed.directory.list(in: AccessBed.partition).map(\.name) == ["notes"])
        let sharing = try bed.directory.members(of: app.effectiveGroup, in: AccessBed.partition)
        #expect(sharing == [GroupMember(app)])

        let reopened = try await bed.reopened(kinds)
        for _ in 1...2 { #expect(try reopened.app(named: "mail", in: AccessBed.partition) == nil) }
        #expect(bed.log.values(of: "app") == ["mail", "mail"])
        #expect(try await reopened.remove(named: "mail", in: AccessBed.partition).authority == app.authority.url)
        #expect(try reopened.members(of: app.effectiveGroup, in: AccessBed.partition).isEmpty)
        reopened.apply(AuthorityParser())
        #expect(try reopened.list(in: AccessBed.partition).map(\.name) == ["notes"])
    }

    @Test("removing an app returns it, and removing it again reports that it does not exist")
    func removing() async throws {
        let bed = try await AccessBed()
        try await bed.directory.register(AccessBed.app(), in: AccessBed.partition)
        #expect(try await bed.directory.remove(named: "mail", in: AccessBed.partition).name == "mail")
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.remove(named: "mail", in: AccessBed.partition)
        }
        #expect(error?.kind == .appNotFound)
        #expect(try await bed.reopened().list(in: AccessBed.partition).isEmpty)
    }

    @Test(
        "a registration that could not work is refused, field by field",
        arguments: ["name", "control", "clientId", "clientSecret", "redirectUri", "executables", "group"])
    func rules(field: String) async throws {
        let bed = try await AccessBed()
        var app = AccessBed.app()
        switch field {
        case "name": app.name = "  "
        case "control": app.name = "ma\u{1b}il"
        case "clientId": app.clientID = ""
        case "clientSecret": app.clientSecret = Secret("")
        case "redirectUri": app.redirectURI = "http://example.org/cb"
        case "executables": app.executables = ["mail"]
        default: app.group = String(repeating: "g", count: 101)
        }
        let wrong = app
        let error = await #expect(throws: BrokerError.self) {
            try await bed.directory.register(wrong, in: AccessBed.partition)
        }
        #expect(error?.kind == .invalidParameter)
        #expect(bed.directory.apps(in: AccessBed.partition).isEmpty)
    }

    @Test("an app of a backup is added, but keeps an existing one unless it is to be replaced")
    func restoring() async throws {
        let bed = try await AccessBed()
        let partition = AccessBed.partition
        var app = AccessBed.app()
        app.clientSecret = Secret("hush")
        func restore(_ app: AppRegistration, replacing: Bool = false) async throws -> RestoredApp {
            try await bed.directory.restore(
                AppRecord(app), clientSecret: app.clientSecret, replacing: replacing, in: partition)
        }
        #expect(try await restore(app) == .added)
        #expect(try bed.directory.app(named: "mail", in: partition) == app)
        #expect(try await restore(app) == .same)
        var other = app
        other.clientSecret = Secret("another")
        #expect(try await restore(other).reasonKept?.contains("--replace") == true)
        #expect(try bed.directory.app(named: "mail", in: partition) == app)
        #expect(try await restore(other, replacing: true) == .replaced)
        #expect(try await bed.reopened().app(named: "mail", in: partition) == other)
    }

    @Test("an app of a backup is skipped and named if a file registers it or its authority is unusable")
    func restoringWhatCannotBe() async throws {
        let bed = try await AccessBed()
        let app = AccessBed.app()
        var entry = AppFileEntry(name: "mail", origin: "/etc/apps.d/mail.toml:1")
        (entry.description, entry.authority) = (app.description, app.authority.url)
        bed.directory.apply([entry])
        let ofFile = try await bed.directory.restore(
            AppRecord(app), clientSecret: nil, replacing: true, in: AccessBed.partition)
        #expect(ofFile.reasonKept?.contains("mail.toml:1") == true)
        var record = AppRecord(app)
        record.authority = "no authority"
        record.description.name = "notes"
        let unusable = try await bed.directory.restore(
            record, clientSecret: nil, replacing: false, in: AccessBed.partition)
        #expect(unusable.reasonKept != nil)
        #expect(try bed.directory.list(in: AccessBed.partition).map(\.name) == ["mail"])
    }
}

extension RestoredApp {
    /// The sentence about an app that was not restored.
    fileprivate var reasonKept: String? { if case .kept(let why) = self { why } else { nil } }
}
