/// What the broker keeps of its environment. Everything else is unset before a library reads it: some write a session's keys to a file
/// (`SSLKEYLOGFILE`), load code (`OPENSSL_CONF`), or send a provider's name to another address (`HOSTALIASES`, `RES_OPTIONS`,
/// `LOCALDOMAIN`). Programs that the broker starts, such as a browser, get all of it.
package enum AllowedVariables {
    package static func has(_ name: String) -> Bool {
        names.contains(name) || prefixes.contains { name.hasPrefix($0) }
    }

    private static let names: Set<String> = [
        // Who runs it, and how texts and times look.
        "HOME", "USER", "LOGNAME", "SHELL", "PATH", "LANG", "LANGUAGE", "TZ",
        // The session: keyring, browser, polkit.
        "DBUS_SESSION_BUS_ADDRESS", "DBUS_SYSTEM_BUS_ADDRESS", "DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "BROWSER",
        // systemd (systemd.exec(5), sd_notify(3), sd_listen_fds(3)).
        "NOTIFY_SOCKET", "WATCHDOG_USEC", "WATCHDOG_PID", "CREDENTIALS_DIRECTORY", "STATE_DIRECTORY",
        "RUNTIME_DIRECTORY", "CACHE_DIRECTORY", "LOGS_DIRECTORY", "CONFIGURATION_DIRECTORY", "INVOCATION_ID",
        "JOURNAL_STREAM", "SYSTEMD_EXEC_PID",
        // Whether the thread pool logs that it does not get the priority that it asks for.
        "LIBDISPATCH_LOG",
        // The way to the network.
        "http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY", "no_proxy", "NO_PROXY",
        "SSL_CERT_FILE", "SSL_CERT_DIR", "CURL_CA_BUNDLE",
    ]

    private static let prefixes = ["BROKER_", "LC_", "LISTEN_", "XDG_", "MEMORY_PRESSURE_"]
}
