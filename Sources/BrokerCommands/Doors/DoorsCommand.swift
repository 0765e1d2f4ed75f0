import BrokerCommandLine
import BrokerLink
import BrokerRPC
import BrokerValues

struct DoorsCommand: Subcommand {
    static var about: About {
        About(
            "doors", "Show the broker's sockets and their last callers.",
            """
            Lists the broker's own socket and those for programs that do not speak its protocol. The last callers are \
            taken from the newest entries of the audit log.

            Examples:
              brokerctl doors
            """)
    }

    var global = GlobalOptions()
    var answerTimeout: Duration? { .seconds(10) }

    func run(in context: CommandContext) throws(BrokerClientError) {
        let status = try context.connection.call(GetBrokerStatus.self, .init())
        let own = OpenDoor(name: "socket", path: context.connection.location.path)
        let log = try context.connection.result(of: ListAudit.self, .init())
        let uses = ([own] + (status.doors ?? [])).map { DoorUse($0, in: log) }
        let list = JSONValue.array(uses.map(\.json))
        context.output.result(JSONText.node(of: ["doors": list] as JSONValue)) {
            DoorUse.table(uses, in: context.output.layout)
        }
    }
}

/// A door and its last callers.
package struct DoorUse {
    let door: OpenDoor
    /// Each caller once, with its last use, newest first.
    let callers: [(time: NumericDate, id: String)]

    private static let most = 3

    /// - Parameter log: the result of `audit.list`.
    package init(_ door: OpenDoor, in log: JSONNode) {
        self.door = door
        guard case .array(let entries) = log["entries"] else {
            callers = []
            return
        }
        var found: [(time: NumericDate, id: String)] = []
        for entry in entries.reversed() where found.count < Self.most {
            let entry = entry.value.objectValue ?? [:]
            guard entry["door"]?.stringValue == door.name, let time = entry["time"]?.integerValue,
                let id = entry["caller"]?.objectValue?["id"]?.stringValue, !found.contains(where: { $0.id == id })
            else { continue }
            found.append((time, id))
        }
        callers = found
    }

    var json: JSONValue {
        var object: JSONObject = ["name": .string(door.name), "path": .string(door.path)]
        object["lastUsedOn"] = callers.first.map { .integer($0.time) }
        object["callers"] = .array(callers.map { .string($0.id) })
        return .object(object)
    }

    package static func table(_ uses: [DoorUse], in layout: Layout = .plain) -> String {
        var table = Table("DOOR", "SOCKET", "LAST USED", "BY")
        for use in uses {
            table.add(
                use.door.name, use.door.path, use.callers.first.map { TimeText.local($0.time) } ?? "-",
                use.callers.isEmpty ? "-" : use.callers.map(\.id).joined(separator: ", "))
        }
        return table.text(in: layout)
    }
}
