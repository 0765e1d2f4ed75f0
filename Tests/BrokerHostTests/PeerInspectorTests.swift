import BrokerTestSupport
import Foundation
import Testing

@Suite(
    "Identity of processes",
    .enabled(if: Prerequisite.root.shouldRun, "needs root, to act as an ordinary user"))
struct PeerInspectorTests {
    private let python = CallerProbe.python

    @Test("a program outside of sandboxes administers, and is the system's if only root can change it")
    func outside() async throws {
        try await withCallerProbe { probe async throws in
            #expect(try await probe.judge(.plain) == "unknown administers \(python)")
            #expect(try await probe.judge(.undumpable).hasPrefix("unknown administers pid "))
            let curl = [
                "/usr/bin/curl", "--max-time", "\(Int(usualPatience))", "--unix-socket", probe.socket,
                "http://localhost/",
            ]
            #expect(try await probe.judge(curl) == "systemInstalled administers /usr/bin/curl")
        }
    }

    @Test("a program in a folder that others can write to has a path, and a deleted one has none")
    func copies() async throws {
        try await withCallerProbe { probe async throws in
            let copy = probe.bed.path("user/copy")
            _ = try await probe.bed.run(Launch("cp", ["/usr/bin/curl", copy]))
            let call = [
                copy, "--max-time", "\(Int(usualPatience))", "--unix-socket", probe.socket, "http://localhost/",
            ]
            #expect(try await probe.judge(call) == "unknown administers \(copy)")
            let script = "exec 9< \(copy); rm \(copy); exec /proc/self/fd/9 " + call.dropFirst().joined(separator: " ")
            #expect(try await probe.judge(["sh", "-c", script]).hasPrefix("unknown administers pid "))
        }
    }

    @Test("a path that is not UTF-8 is no name, so that later readers are safe")
    func oddNames() async throws {
        try await withCallerProbe { probe async throws in
            let call = ["--max-time", "\(Int(usualPatience))", "--unix-socket", probe.socket, "http://localhost/"]
                .joined(separator: " ")
            for name in [#"a$(printf '\314\201%.0s' $(seq 31))"#, #"a$(printf '\377')"#] {
                let script = "f=\(probe.bed.path("user"))/\(name); cp /usr/bin/curl $f; exec $f \(call)"
                #expect(try await probe.judge(["sh", "-c", script]).hasPrefix("unknown administers pid "))
            }
        }
    }

    @Test("a connecting process that ended before its inspection is unidentified")
    func gone() async throws {
        try await withCallerProbe { probe async throws in
            for attack in [CallerProbe.Attack.exited, .zombie, .leader] {
                let verdict = try await probe.judge(attack)
                #expect(verdict.hasPrefix("unidentified may not pid "), "\(attack): \(verdict)")
            }
        }
    }

    @Test("a program that becomes one of the system's gains no right")
    func exec() async throws {
        try await withCallerProbe { probe async throws in
            #expect(try await probe.judge(.exec) == "systemInstalled administers /usr/bin/yes")
        }
    }

    @Test("a process that became root by a setuid program is no longer the connecting user")
    func setuid() async throws {
        try await withCallerProbe { probe async throws in
            let program = probe.bed.path("setuid-yes")
            _ = try await probe.bed.run(Launch("cp", ["/usr/bin/yes", program]))
            _ = try await probe.bed.run(Launch("chmod", ["4755", program]))
            let attack = [python, probe.bed.path("attack.py"), "exec", probe.socket, program]
            #expect(try await probe.judge(attack).hasPrefix("unidentified may not pid "))
        }
    }

    @Test("a program run by a loader, or in memory only, does not count as the system's")
    func loaders() async throws {
        try await withCallerProbe { probe async throws in
            let curl = [
                "/usr/bin/curl", "--max-time", "\(Int(usualPatience))", "--unix-socket", probe.socket,
                "http://localhost/",
            ]
            let loader = try #require(
                ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"].first(
                    where: FileManager.default.fileExists))
            #expect(try await probe.judge([loader] + curl).hasPrefix("unknown administers "))
            #expect(try await probe.judge(.memory).hasPrefix("unknown administers pid "))
        }
    }

    @Test("a reused process number does not identify the connecting process")
    func reusedNumber() async throws {
        try await withCallerProbe { probe async throws in
            let attack = [python, probe.bed.path("attack.py"), "reused", probe.socket]
            #expect(try await probe.judge(asRootAlone: attack).hasPrefix("unidentified may not pid "))
        }
    }

    @Test(
        "a process with own mounts, users or pids is sandboxed, even if it hides or resembles the host",
        arguments: [
            ["bwrap", "--dev-bind", "/", "/"],
            ["bwrap", "--ro-bind", "/", "/", "--dev", "/dev", "--bind", "/tmp", "/tmp", "--unshare-pid"],
            ["unshare", "--user", "--map-current-user"],
            ["unshare", "--user", "--map-root-user", "--mount"],
            ["unshare", "--user", "--map-root-user", "--pid", "--fork"],
            ["unshare", "--user", "--map-root-user", "--root=/"],
        ], [CallerProbe.Attack.plain, .undumpable])
    func sandboxes(sandbox: [String], attack: CallerProbe.Attack) async throws {
        try await withCallerProbe { probe async throws in
            let verdict = try await probe.judge(attack, in: sandbox)
            #expect(verdict.hasPrefix("sandboxed may not container:"), "\(verdict)")
        }
    }

    @Test("a root-made sandbox without a user namespace does not hide behind its undumpable process")
    func madeByRoot() async throws {
        try await withCallerProbe { probe async throws in
            let attack = [python, probe.bed.path("attack.py"), "undumpable", probe.socket]
            for maker in [["unshare", "--mount"], ["unshare", "--pid", "--fork"]] {
                let verdict = try await probe.judge(asRoot: maker, attack)
                #expect(verdict.hasPrefix("sandboxed may not container:"), "\(maker): \(verdict)")
            }
        }
    }

    @Test("a user of hundreds of groups is identified like any other, even if namespaces are hidden")
    func groups() async throws {
        try await withCallerProbe { probe async throws in
            let attack = [python, probe.bed.path("attack.py"), "undumpable", probe.socket]
            let groups = (1...900).map { String(4_000_000_000 + $0) }.joined(separator: ",")
            let user = [
                "setpriv", "--reuid=\(CallerProbe.user)", "--regid=\(CallerProbe.user)", "--groups=\(groups)", "--",
            ]
            let verdict = try await probe.judge(asRootAlone: user + attack)
            #expect(verdict.hasPrefix("unknown administers pid "), "\(verdict)")
            let inside = try await probe.judge(asRootAlone: ["unshare", "--pid", "--fork"] + user + attack)
            #expect(inside.hasPrefix("sandboxed may not container:"), "\(inside)")
        }
    }

    /// Made by root, as for containers: the map alone looks like the host's.
    @Test(
        "a user namespace that maps every user and group to itself is still detected",
        arguments: ["plain", "undumpable"])
    func identityMap(attack: String) async throws {
        try await withCallerProbe { probe async throws in
            let script = #"""
                import ctypes, os, sys
                ready, go = os.pipe(), os.pipe()
                child = os.fork()
                if child:
                    os.read(ready[0], 1)
                    for name in ('uid_map', 'gid_map'):
                        open(f'/proc/{child}/{name}', 'w').write('0 0 4294967295\n')
                    os.write(go[1], b'x')
                    sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
                if ctypes.CDLL(None).unshare(0x10000000) != 0: os._exit(1)
                os.write(ready[1], b'x')
                os.read(go[0], 1)
                os.execvp(sys.argv[1], sys.argv[1:])
                """#
            let verdict = try await probe.judge(
                asRoot: [python, "-c", script], [python, probe.bed.path("attack.py"), attack, probe.socket])
            #expect(verdict.hasPrefix("sandboxed may not container:"), "\(verdict)")
        }
    }

    @Test("a process with only a network namespace of its own is not outside", arguments: ["plain", "undumpable"])
    func network(attack: String) async throws {
        try await withCallerProbe { probe async throws in
            let attack = [python, probe.bed.path("attack.py"), attack, probe.socket]
            let verdict = try await probe.judge(asRoot: ["unshare", "--net"], attack)
            #expect(verdict.hasPrefix("sandboxed may not container:"), "\(verdict)")
        }
    }

    /// Mounts older than the one at its root precede it in the list.
    @Test("a list of mounts is read to a limit, and a process behind a longer one is unidentified")
    func longList() async throws {
        try await withCallerProbe { probe async throws in
            // Its root is known without the list, unless it makes itself undumpable.
            let verdicts = ["undumpable": "unidentified may not ", "plain": "sandboxed may not container:"]
            for (attack, expected) in verdicts {
                let verdict = try await probe.judge(behind: 3_000, attack)
                #expect(verdict.hasPrefix(expected), "\(attack): \(verdict)")
            }
        }
    }

    @Test("a sandbox without a record of Flatpak's is not examined, however many mounts it has")
    func manyMounts() async throws {
        try await withCallerProbe { probe async throws in
            let records = "\(probe.runtimeDirectory)/.flatpak/4711"
            try FileManager.default.createDirectory(atPath: records, withIntermediateDirectories: true)
            try #"{"child-pid": 1, "mnt-namespace": 1}"#.write(
                toFile: records + "/bwrapinfo.json", atomically: true, encoding: .utf8)
            _ = try await probe.bed.run(Launch("chown", ["-R", "65534", "\(probe.runtimeDirectory)/.flatpak"]))
            let before = try probe.bytesRead()
            #expect(try await probe.judge(behind: 12_500, "plain").hasPrefix("sandboxed may not container:"))
            let read = try probe.bytesRead() - before
            #expect(read < 100_000, "of a list of a megabyte and more")
        }
    }

    @Test("a process confined to a folder of the host's root file system is not outside")
    func chroot() async throws {
        try await withCallerProbe { probe async throws in
            let script = """
                import ctypes, os, socket, sys, threading, time
                attack, folder, name, mode = sys.argv[1:5]
                code = open(attack).read()
                os.chroot(folder)
                os.chdir('/')
                os.setgroups([])
                os.setresgid(65534, 65534, 65534)
                os.setresuid(65534, 65534, 65534)
                ctypes.CDLL(None).prctl(4, 1, 0, 0, 0)
                sys.argv = ['attack', mode, '/' + name]
                exec(code)
                """
            let socket = URL(filePath: probe.socket)
            for mode in ["plain", "undumpable"] {
                let verdict = try await probe.judge(asRootAlone: [
                    python, "-c", script, probe.bed.path("attack.py"), socket.deletingLastPathComponent().path,
                    socket.lastPathComponent, mode,
                ])
                #expect(verdict.hasPrefix("sandboxed may not container:"), "\(mode): \(verdict)")
            }
        }
    }

    /// The file is in Flatpak's place and format: only Flatpak's own record of the sandbox is missing.
    @Test("a Flatpak's name counts only when it is confirmed from outside of the sandbox")
    func flatpak() async throws {
        try await withCallerProbe { probe async throws in
            let info = "[Application]\nname=org.example.Mail\n[Instance]\ninstance-id=4711\n"
            try info.write(toFile: probe.bed.path("info"), atomically: true, encoding: .utf8)
            let bubblewrap = [
                "bwrap", "--dev-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib",
                "--symlink", "usr/lib64", "/lib64", "--bind", "/tmp", "/tmp", "--proc", "/proc", "--dev", "/dev",
                "--ro-bind-data", "9", "/.flatpak-info",
            ]
            let attack = [python, probe.bed.path("attack.py"), "plain", probe.socket]
            func judge(_ record: String) async throws -> String {
                let script = "exec 9< \(probe.bed.path("info")); \(record) exec \"$@\""
                return try await probe.judge(["sh", "-c", script, "sh"] + bubblewrap + attack)
            }
            #expect(try await judge("").hasPrefix("sandboxed may not container:"))

            // As Flatpak does it: the namespace's number is known once the sandbox exists, so the record follows.
            let instance = "\(probe.runtimeDirectory)/.flatpak/4711"
            let confirmed = """
                mkdir -p \(instance); cp \(probe.bed.path("info")) \(instance)/info;
                """
            let inside = """
                number=$(readlink /proc/self/ns/mnt | tr -dc 0-9)
                printf '{"child-pid": %s, "mnt-namespace": %s}' $$ "$number" > \(instance)/bwrapinfo.json
                exec "$@"
                """
            let script = "exec 9< \(probe.bed.path("info")); \(confirmed) exec \"$@\""
            let named = try await probe.judge(
                ["sh", "-c", script, "sh"] + bubblewrap + ["sh", "-c", inside, "sh"] + attack)
            #expect(named == "sandboxed may not flatpak:org.example.Mail")

            // Another sandbox that claims to be that instance; it may even have been given the same number for its namespace.
            #expect(try await judge("").hasPrefix("sandboxed may not container:"))
        }
    }

    /// A file system whose server never answers is in the place of Flatpak's file.
    @Test("a sandbox cannot make the broker wait for a file of its own making")
    func unansweredFile() async throws {
        try await withCallerProbe { probe in
            let mount = """
                import ctypes, os, sys
                server = os.open('/dev/fuse', os.O_RDWR)
                os.set_inheritable(server, True)
                options = f'fd={server},rootmode=100000,user_id=65534,group_id=65534'.encode()
                if ctypes.CDLL(None).mount(b'silent', b'/.flatpak-info', b'fuse', 0, options) != 0:
                    sys.exit('no FUSE here')
                os.execvp(sys.argv[1], sys.argv[1:])
                """
            try mount.write(toFile: probe.bed.path("mount.py"), atomically: true, encoding: .utf8)
            let info = "[Application]\nname=org.example.Mail\n[Instance]\ninstance-id=4711\n"
            try info.write(toFile: probe.bed.path("info"), atomically: true, encoding: .utf8)
            let sandbox = [
                "sh", "-c", "exec 9< \(probe.bed.path("info")); exec \"$@\"", "sh",
                "bwrap", "--cap-add", "ALL", "--dev-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin",
                "--symlink", "usr/lib", "/lib", "--symlink", "usr/lib64", "/lib64", "--bind", "/tmp", "/tmp",
                "--proc", "/proc", "--dev-bind", "/dev", "/dev", "--file", "9", "/.flatpak-info",
                CallerProbe.python, probe.bed.path("mount.py"),
            ]
            let judged = try await probe.judge(
                asRoot: sandbox, [CallerProbe.python, probe.bed.path("attack.py"), "plain", probe.socket])
            #expect(judged.hasPrefix("sandboxed may not container:"), "\(judged)")
        }
    }

    /// A lookup of its path would keep the broker waiting for ever.
    @Test("a program on a file system that does not answer is still inspected")
    func silentFileSystem() async throws {
        try await withCallerProbe { probe in
            let folder = try probe.bed.makeDirectory("silent")
            let server = try probe.bed.start(
                Launch(python, [PackageTree.fixture("silent-filesystem.py"), folder, "/usr/bin/yes"]), as: "filesystem")
            try await server.waitForText("mounted")
            probe.bed.atEnd {
                // The file system ends with its server, even if processes wait for it.
                await server.stop()
                _ = try? await probe.bed.run(Launch("umount", ["--lazy", folder]))
            }
            let attack = [python, probe.bed.path("attack.py"), "exec", probe.socket, folder + "/yes"]
            #expect(try await probe.judge(attack).hasPrefix("unknown administers "))
        }
    }
}

extension CallerProbe {
    /// Inspects a sandbox made by root with so many mounts, before the one at its root in its list.
    fileprivate func judge(behind mounts: Int, _ attack: String) async throws -> String {
        let folder = try bed.makeDirectory("mounts-of-\(attack)")
        return try await judge(
            asRoot: ["unshare", "--mount", Self.python, "-c", Self.mounting, folder, String(mounts)],
            [Self.python, bed.path("attack.py"), attack, socket])
    }

    private static let mounting = """
        import ctypes, os, sys
        libc = ctypes.CDLL(None, use_errno=True)
        def mount(source, target, kind, flags):
            if libc.mount(source.encode(), target.encode(), kind and kind.encode(), flags, None) != 0:
                raise OSError(ctypes.get_errno(), target)
        BIND, MOVE = 4096, 8192
        folder = sys.argv[1]
        for name in ('many', 'root'): os.mkdir(f'{folder}/{name}')
        mount('none', f'{folder}/many', 'tmpfs', 0)
        for number in range(int(sys.argv[2])):
            os.mkdir(f'{folder}/many/{number}')
            mount('none', f'{folder}/many/{number}', 'tmpfs', 0)
        mount('/', f'{folder}/root', None, BIND)
        mount(f'{folder}/many', f'{folder}/root/mnt', None, MOVE)
        os.chroot(f'{folder}/root')
        os.chdir('/')
        os.execvp(sys.argv[3], sys.argv[3:])
        """
}
