/// The programs in a sandbox, run by its own Python interpreter.
enum SandboxClient {
    /// Sends its arguments line by line to the socket of its environment, and prints the answers.
    static let script = """
        import os, socket, sys
        connection = socket.socket(socket.AF_UNIX)
        connection.connect(os.environ['BROKER_SOCKET'])
        stream = connection.makefile('r')
        for line in sys.argv[1:]:
            connection.sendall((line + '\\n').encode())
            print(stream.readline(), end='', flush=True)
        """

    /// A program that prints the path of its socket, is connected to it, and ends when it is cut off.
    static let holder = """
        import os, socket
        def connect():
            connection = socket.socket(socket.AF_UNIX)
            connection.connect(os.environ['BROKER_SOCKET'])
            return connection
        held = connect()
        held.sendall(b'{"jsonrpc":"2.0","id":1,"method":"broker.status"}\\n')
        print('at', os.environ['BROKER_SOCKET'], held.makefile('r').readline() != '', flush=True)
        try:
            assert held.recv(1) == b''
        except OSError:
            pass
        try:
            connect()
            print('reached', flush=True)
        except OSError:
            print('refused', flush=True)
        """
}
