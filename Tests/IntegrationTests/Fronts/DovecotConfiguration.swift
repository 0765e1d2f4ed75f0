/// A Dovecot with IMAP over TLS only, which validates a token at the provider's UserInfo endpoint.
struct DovecotConfiguration {
    let folder: String
    let port: UInt16
    let certificate: String
    let key: String
    let userInfo: String
    /// Version 2.3, as in Debian 12; its settings have other names.
    let isOld: Bool

    /// By name.
    var files: [String: String] {
        isOld
            ? ["dovecot.conf": common + settingsOf23, "oauth2.conf": provider]
            : ["dovecot.conf": "dovecot_config_version = 2.4.0\ndovecot_storage_version = 2.4.0\n" + common + settings]
    }

    private var common: String {
        """
        base_dir = \(folder)/run
        state_dir = \(folder)/run
        log_path = /dev/stderr
        listen = 127.0.0.1
        service imap-login {
          inet_listener imap {
            port = 0
          }
          inet_listener imaps {
            port = \(port)
            ssl = yes
          }
        }
        ssl = required
        auth_mechanisms = xoauth2 oauthbearer
        first_valid_uid = 1

        """
    }

    private var provider: String {
        """
        introspection_mode = auth
        introspection_url = \(userInfo)
        username_attribute = preferred_username

        """
    }

    private var settings: String {
        """
        protocols {
          imap = yes
        }
        ssl_server_cert_file = \(certificate)
        ssl_server_key_file = \(key)
        oauth2 {
        \(provider)}
        passdb oauth2 {
          mechanisms_filter = xoauth2 oauthbearer
        }
        userdb static {
          fields {
            uid = 65534
            gid = 65534
            home = \(folder)/mail/%{user}
          }
        }
        mail_driver = maildir
        mail_path = \(folder)/mail/%{user}

        """
    }

    private var settingsOf23: String {
        """
        protocols = imap
        ssl_cert = <\(certificate)
        ssl_key = <\(key)
        passdb {
          driver = oauth2
          mechanisms = xoauth2 oauthbearer
          args = \(folder)/oauth2.conf
        }
        userdb {
          driver = static
          args = uid=65534 gid=65534 home=\(folder)/mail/%u
        }
        mail_location = maildir:\(folder)/mail/%u

        """
    }
}
