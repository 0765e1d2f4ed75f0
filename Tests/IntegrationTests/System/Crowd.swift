import BrokerTestSupport
import BrokerValues
import Foundation

/// Many users of the machine at one broker, from a few processes that switch from uid to uid. All stay connected, and each
/// uses the connection that its uid made.
struct Crowd: Sendable {
    static let workers: UInt32 = 8

    private let processes: [ManagedProcess]

    /// Each user has an app `mail`, and an account and a token that are named after the uid. The answers are compared with that
    /// here, and mismatches are printed.
    private static let worker = #"""
        import json, os, socket, sys, time

        path, first, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
        tenant, client = "11111111-2222-3333-4444-555555555555", "crowd"
        host = "login.microsoftonline.com"

        class User:
            def __init__(self, uid):
                self.uid = uid
                self.become()
                self.socket = socket.socket(socket.AF_UNIX)
                self.socket.connect(path)
                self.file = self.socket.makefile("r")
                # The answer says that the broker has looked at who connected: from here on this process is somebody else.
                self.status = self.call("broker.status")

            def become(self):
                # Not by way of root: the broker may be looking at who has just connected.
                if os.geteuid() == self.uid: return
                os.seteuid(0)
                os.setgroups([])
                os.setresgid(self.uid, self.uid, self.uid)
                os.setresuid(self.uid, self.uid, 0)

            def call(self, method, **params):
                self.become()
                request = {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}
                self.socket.sendall((json.dumps(request) + "\n").encode())
                return json.loads(self.file.readline())

            def cache(self):
                own = {"home_account_id": "%d.%s" % (self.uid, tenant), "environment": host}
                token = dict(own, client_id=client, secret="token-of-%d" % self.uid, credential_type="AccessToken",
                             realm=tenant, target="mail.read", cached_at=str(int(time.time())),
                             expires_on=str(int(time.time()) + 86400))
                account = dict(own, realm=tenant, local_account_id=str(self.uid), username="user-%d" % self.uid)
                refresh = dict(own, client_id=client, secret="refresh-of-%d" % self.uid, credential_type="RefreshToken")
                return {"Account": {"a": account}, "AccessToken": {"t": token}, "RefreshToken": {"r": refresh}}

            def settle(self):
                self.call("apps.register", name="mail", clientId=client, authority="https://%s/common" % host)
                return self.call("cache.import", cache=self.cache())

            def mistakes(self, stranger):
                token = self.call("token.acquireSilent", app="mail", scopes=["mail.read"])
                if token.get("result", {}).get("accessToken") != "token-of-%d" % self.uid: yield token
                listed = self.call("accounts.list")
                accounts = listed.get("result", {}).get("accounts", [])
                if [a["username"] for a in accounts] != ["user-%d" % self.uid]: yield listed
                self.account = accounts[0]["id"] if accounts else None
                if stranger is not None:
                    foreign = self.call("accounts.get", account={"id": stranger})
                    if foreign.get("result", {}).get("account", "") is not None: yield foreign

        users = []
        for line in sys.stdin:
            found, stranger = [], None
            if line.strip() == "connect":
                users = [User(first + place) for place in range(count)]
                found = [
                    (user.status, user.call("broker.callers")) for user in users
                    if user.status.get("result", {}).get("caller", {}).get("tier") != "unknown"
                ]
            for user in users:
                if line.strip() == "settle":
                    answer = user.settle()
                    if "result" not in answer: found.append(answer)
                if line.strip() == "ask":
                    found += user.mistakes(stranger)
                    stranger = user.account
            print("done", len(users), json.dumps(found[:1]), flush=True)
        """#

    static func gather(_ count: UInt32, from first: UInt32, at socket: String, in bed: TestBed) throws -> Crowd {
        let each = count / workers
        return Crowd(
            processes: try (0..<workers).map { number in
                let arguments = ["-c", worker, socket, "\(first + number * each)", "\(each)"]
                return try bed.start(Launch("/usr/bin/python3", arguments, hasInput: true), as: "crowd-\(number)")
            })
    }

    /// - Returns: the failures, and the number of users that were tried.
    func run(_ order: String) async throws -> (users: Int, mistakes: [String]) {
        var (users, mistakes) = (0, [String]())
        let before = processes.map(\.answers.count)
        for process in processes { try process.write(order + "\n") }
        for (process, before) in zip(processes, before) {
            try await eventually("\(process.name) has done “\(order)”") {
                try process.requireRunning()
                return process.answers.count > before
            }
            let words = process.answers[before].split(separator: " ", maxSplits: 2)
            users += Int(words[1]) ?? 0
            if words[2] != "[]" { mistakes.append(String(words[2])) }
        }
        return (users, mistakes)
    }
}

extension ManagedProcess {
    fileprivate var answers: [String] {
        let text = outputText
        // The last line may be incomplete.
        return text.hasSuffix("\n") ? text.split(separator: "\n").map(String.init) : []
    }
}
