import BrokerHost
import Testing

@Suite("Programs that run other users' code")
struct InterpreterTests {
    @Test(
        "interpreters are recognized by name, with versions and variants",
        arguments: [
            "/usr/bin/bash", "/bin/sh", "bash", "/usr/bin/bash-static", "/usr/bin/ksh93", "/usr/bin/busybox.suid",
            "/usr/bin/python", "/usr/bin/python3", "/usr/bin/python3.11", "/usr/bin/python3.11-dbg", "/usr/bin/node",
            "/usr/bin/perl5.36.0", "/usr/bin/perl5.36-x86_64-linux-gnu", "/usr/bin/lua5.4", "/usr/bin/tclsh8.6",
            "/usr/bin/wish8.6", "/lib64/ld-linux-x86-64.so.2", "/usr/bin/ld.so", "/lib/ld-musl-x86_64.so.1",
        ])
    func interpreters(path: String) { #expect(Interpreter.isNamed(by: path)) }

    @Test(
        "interpreters are not recognized in other names, nor in folders",
        arguments: [
            "/usr/bin/bashful", "/usr/bin/rbash", "/usr/bin/pythonic", "/usr/bin/nodes",
            "/usr/bin/luac5.4", "/usr/bin/ld", "/opt/python3/notes", "/bash/notes", "/usr/bin/3.11", "/", "",
        ])
    func others(path: String) { #expect(!Interpreter.isNamed(by: path)) }
}
