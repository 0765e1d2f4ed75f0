import BrokerModel
import BrokerValues

/// The facts that a caller was judged by, for people who do not know the system's terms. The title of an entry is the name that
/// `brokerctl grants list` shows.
enum FactDescriptions {
    static func entry(_ fact: (name: SafeText, value: SafeText)) -> HTML {
        // Other facts have values chosen by a program or a launcher: those are shown as they are.
        let value = compared.contains(fact.name.text) ? words(fact.value, in: views) : fact.value
        return """
            <dt title="\(text: fact.name)">\(text: words(fact.name, in: names))</dt>\
            <dd><bdi>\(name: value)</bdi></dd>

            """
    }

    private static let compared: Set<String> = ["networkNamespace", "pidNamespace", "rootMount", "userNamespace"]

    /// - Returns: the text itself if the table has no line for it.
    private static func words(_ text: SafeText, in table: String) -> SafeText {
        for line in table.split(separator: "\n") where line.hasPrefix(text.text + ": ") {
            return SafeText(String(line.dropFirst(text.text.count + 2)), atMost: line.count)
        }
        return text
    }

    private static let names = """
        adminProof: Proof that it may administer
        asksBy: Asks by way of
        cgroup: Group of processes that it is in
        connectedBy: Connected by
        executable: Program file
        executableOwner: Who decides what it does
        flatpak: Flatpak app
        handedOnWith: Shares its connection with
        instance: Which run of the sandbox
        label: The system’s name for its limits
        networkNamespace: Network that it sees
        pid: Process number
        pidNamespace: Processes that it sees
        pinned: Still known to be the same process
        rootMount: Files that it sees
        socketOf: Came by the socket of
        startedBy: Started by
        unit: Service
        userNamespace: Users that it sees
        """

    /// How its view of the machine compares with the broker's.
    private static let views = """
        same: the same as yours
        other: different from yours
        unreadable: nobody can tell
        """
}
