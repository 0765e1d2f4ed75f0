import BrokerLink
import BrokerRPC
import BrokerSystem
import BrokerValues
import Glibc

/// Whom an app's requests mean when several people are signed in and the command names nobody: a person's choice, kept beside
/// their configuration. The broker knows nothing of it.
struct DefaultAccounts {
    private let folder: String
    private var path: String { folder + "/default-accounts.json" }

    init() throws(BrokerClientError) { folder = try OwnConfiguration.folder() }

    /// - Returns: the account's id; nil where none was chosen.
    func account(of app: String) throws(BrokerClientError) -> String? { try all()[app]?.stringValue }

    /// - Parameter account: an id; nil takes the choice back.
    func set(_ account: String?, of app: String) throws(BrokerClientError) {
        var choices = try all()
        choices[app] = account.map { .string($0) }
        try PersonalFolder.make(folder)
        let file = try NewFile(at: path, replacing: true)
        try file.write(JSONText.line(JSONText.node(of: JSONValue.object(choices)), readable: true).utf8)
        try file.publish()
    }

    /// App names to ids.
    private func all() throws(BrokerClientError) -> JSONObject {
        guard access(path, F_OK) == 0 || errno != ENOENT else { return [:] }
        guard let bytes = contents(of: path),
            let choices = (try? JSONReader.read(bytes))?.value.objectValue
        else {
            throw BrokerClientError(
                .invalidParameter,
                "\(path) cannot be read as JSON; mend or remove it, or name an account with --account.")
        }
        return choices
    }
}
