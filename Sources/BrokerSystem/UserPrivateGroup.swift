import Glibc

/// A group with a single user, as useradd(8) makes one for each: only that user can write a file that the group may write.
package enum UserPrivateGroup {
    /// Whether a group is that of this process's user. A group that cannot be looked up is not.
    package static func isOwn(_ group: gid_t) -> Bool {
        guard let account = account(of: geteuid()), let found = self.group(group) else { return false }
        return isPrivate(found, to: account, isPrimary: account.group == group)
    }

    package struct Account: Sendable {
        package var name: String
        package var group: gid_t

        package init(name: String, group: gid_t) {
            self.name = name
            self.group = group
        }
    }

    package struct Group: Sendable {
        package var name: String
        package var members: [String]

        package init(name: String, members: [String]) {
            self.name = name
            self.members = members
        }
    }

    /// Whether a group is private to an account. No list contains the users who have a group as their primary one, but a group with
    /// the user's own name is made for that user only.
    package static func isPrivate(_ group: Group, to account: Account, isPrimary: Bool) -> Bool {
        isPrimary && group.name == account.name && group.members.allSatisfy { $0 == account.name }
    }

    static func account(of user: uid_t) -> Account? {
        var entry = passwd()
        return withBuffer { buffer, size in
            var found: UnsafeMutablePointer<passwd>?
            let code = getpwuid_r(user, &entry, buffer, size, &found)
            guard code == 0, let found, let name = found.pointee.pw_name else { return (code, nil) }
            return (0, Account(name: String(cString: name), group: found.pointee.pw_gid))
        }
    }

    private static func group(_ number: gid_t) -> Group? {
        var entry = Glibc.group()
        return withBuffer { buffer, size in
            var found: UnsafeMutablePointer<Glibc.group>?
            let code = getgrgid_r(number, &entry, buffer, size, &found)
            guard code == 0, let found, let name = found.pointee.gr_name else { return (code, nil) }
            var members: [String] = []
            var member = found.pointee.gr_mem
            while let listed = member?.pointee {
                members.append(String(cString: listed))
                member = member?.advanced(by: 1)
            }
            return (0, Group(name: String(cString: name), members: members))
        }
    }

    /// Retries with larger buffers, as long as the result is ERANGE.
    private static func withBuffer<Result>(
        _ ask: (UnsafeMutablePointer<CChar>, Int) -> (code: Int32, result: Result?)
    ) -> Result? {
        for size in [4 << 10, 64 << 10, 1 << 20] {
            let buffer = UnsafeMutablePointer<CChar>.allocate(capacity: size)
            defer { buffer.deallocate() }
            let (code, result) = ask(buffer, size)
            if code != ERANGE { return result }
        }
        return nil
    }
}
