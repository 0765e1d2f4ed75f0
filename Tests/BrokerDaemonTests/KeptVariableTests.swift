import BrokerConfig
import BrokerDaemon
import Foundation
import Testing

@Suite("What the broker keeps of its environment")
struct KeptVariableTests {
    @Test(
        "variables that make a library write, load or ask something else are not kept",
        arguments: [
            "SSLKEYLOGFILE", "OPENSSL_CONF", "OPENSSL_MODULES", "OPENSSL_ENGINES", "RES_OPTIONS", "LOCALDOMAIN",
            "HOSTALIASES",
            "RESOLV_HOST_CONF", "CURL_HOME", "CURL_SSL_BACKEND", "CURL_ENTROPY", "SQLITE_TMPDIR", "TMPDIR",
            "GCONV_PATH",
            "LOCPATH", "NLSPATH", "MALLOC_CHECK_", "GLIBC_TUNABLES", "LD_PRELOAD", "HTTP_PROXY", "G_MESSAGES_DEBUG", "",
        ])
    func dropped(name: String) { #expect(!AllowedVariables.has(name)) }

    @Test("what a setting is read from is kept, and so are the session, systemd and the way to the network")
    func kept() {
        for name in Setting.all.compactMap(\.environment) { #expect(AllowedVariables.has(name), "\(name)") }
        for name in [
            "HOME", "XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "DBUS_SESSION_BUS_ADDRESS", "BROWSER", "NOTIFY_SOCKET",
            "LISTEN_FDS",
            "LISTEN_FDNAMES", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY", "JOURNAL_STREAM", "https_proxy", "NO_PROXY",
            "SSL_CERT_FILE", "CURL_CA_BUNDLE", "LC_ALL", "LIBDISPATCH_LOG",
        ] { #expect(AllowedVariables.has(name), "\(name)") }
    }
}
