import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

/// Default accounts that earlier versions kept in a file next to the configuration, keyed by app name. Each choice moves once to the
/// broker that has the account; choices for another broker stay in the file.
enum EarlierDefaults {
    static func move(on connection: DirectConnection) {
        guard let folder = try? PersonalFolder.settings(), (try? PersonalFolder.refuseOthers(folder)) != nil else {
            return
        }
        let path = folder + "/default-accounts.json"
        guard let bytes = contents(ofFileAt: path, isTrusted: true),
            let choices = (try? JSONReader.read(bytes))?.value.objectValue
        else { return }
        let left = choices.filter { app, id in
            id.stringValue.map { !isTaken($0, of: app, on: connection) } ?? true
        }
        guard left.count < choices.count else { return }
        guard !left.isEmpty else { return _ = unlink(path) }
        guard let file = try? NewFile(at: path, replacing: true) else { return }
        _ = try? file.write(JSONText.line(JSONText.node(of: JSONValue.object(left)), readable: true).utf8)
        _ = try? file.publish()
    }

    /// Whether the broker has the account and now the choice. A newer choice in the broker is kept.
    private static func isTaken(_ id: String, of app: String, on connection: DirectConnection) -> Bool {
        var params = ListAccounts.Params(.registered(app))
        params.includeSignedOut = true
        guard let listed = try? connection.call(ListAccounts.self, params) else { return false }
        if listed.defaultAccount != nil { return listed.accounts.contains { $0.id == id } }
        return (try? connection.call(SetDefaultAccount.self, .init(app: app, account: .id(id)))) != nil
    }
}
