import BrokerCommandLine
import BrokerLink
import BrokerValues

struct BrokerctlCommand: Noun {
    static var about: About {
        About(
            "brokerctl", "Sign in once, and let every app have its own tokens.",
            """
            Talks to the token broker, brokerd. Exit status: 0 done, 1 the request failed, 2 usage, 3 no broker, \
            4 a person is needed (to sign in, to unlock, to choose an account), 5 access denied, 130 ended by Ctrl-C. \
            Text and tables are fitted to the width of a terminal; in a pipe or a file they are complete.

            Examples:
              brokerctl login --app notes
              brokerctl token --app notes
              brokerctl doctor
            """)
    }

    static var subcommands: [any Command.Type] {
        [
            StatusCommand.self, LoginCommand.self, LogoutCommand.self, TokenCommand.self, ProofCommand.self,
            AccountsCommand.self, AppsCommand.self, GrantsCommand.self, SandboxesCommand.self, RunInCommand.self,
            SSHCommand.self, AuditCommand.self, CacheCommand.self, KeyCommand.self, LockCommand.self,
            UnlockCommand.self, PartitionsCommand.self, HandleRedirectCommand.self, ImportCommand.self,
            WatchCommand.self, LogsCommand.self, MetricsCommand.self, ConfigCommand.self, DoctorCommand.self,
            DoorsCommand.self, EnvCommand.self, GitCredentialCommand.self, KubeCredentialCommand.self,
            TokenFileCommand.self, SessionCommand.self, CompletionCommand.self,
        ]
    }
}
