/// What runs in a sandbox, by its own interpreter of Python.
enum SandboxClient {
    /// Asks at the socket of its environment, line by line of its arguments, and prints the answers.
    static let script = """
        import os, socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.environ['BROKER_SOCKET'])
        stream = connection.makefile('r')
        for line in sys.argv[1:]:
            connection.sendall((line + '\\n').encode())
            print(stream.readline(), end='', flush=True)
        """
}
