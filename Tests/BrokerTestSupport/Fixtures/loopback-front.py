#!/usr/bin/python3
"""Stands in front of a plain server on loopback, one thread a connection.

    loopback-front.py tls PORT CERTIFICATE KEY PROTOCOLS [OLDEST NEWEST]
        ends TLS and passes the bytes on to 127.0.0.1:PORT
    loopback-front.py proxy PORT [USER:PASSWORD | STATUS]
        answers CONNECT for any host with a tunnel to 127.0.0.1:PORT; wants credentials, or answers with a status
    loopback-front.py socks PORT REPLY
        a SOCKS proxy that gives this reply to a request, and says nothing more

Says `listening PORT` when it is ready, then a line for each connection: `tls VERSION PROTOCOL` or `connect HOST:PORT`.
"""
import base64
import socket
import ssl
import sys
import threading


def say(*words):
    print(*words, flush=True)


def copy(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def join(client, port):
    with client, socket.create_connection(("127.0.0.1", port)) as server:
        back = threading.Thread(target=copy, args=(server, client), daemon=True)
        back.start()
        copy(client, server)
        back.join()


def serve_tls(client, port, context):
    try:
        client = context.wrap_socket(client, server_side=True)
    except OSError as error:
        say("tls-failed", error.__class__.__name__)
        client.close()
        return
    say("tls", client.version(), client.selected_alpn_protocol() or "-")
    join(client, port)


def proxy_status(request, wanted):
    if wanted is None:
        return "200 Connected"
    if ":" not in wanted:
        return f"{wanted} Refused" if wanted != "0" else None
    credentials = base64.b64encode(wanted.encode()).decode()
    return "200 Connected" if f"Basic {credentials}" in request else "407 Proxy Authentication Required"


def serve_proxy(client, port, wanted):
    request = b""
    while b"\r\n\r\n" not in request:
        data = client.recv(1)
        if not data:
            return client.close()
        request += data
    method, target, _ = request.split(b"\r\n")[0].decode("ascii").split(" ")
    say(method.lower(), target)
    status = proxy_status(request.decode("ascii"), wanted)
    if status is None:
        return client.close()
    end = "Content-Length: 0\r\n" if status[0] != "2" else ""
    client.sendall(f"HTTP/1.1 {status}\r\n{end}\r\n".encode())
    if status[0] != "2":
        return client.close()
    join(client, port)


def exactly(client, count):
    data = b""
    while len(data) < count:
        more = client.recv(count - len(data))
        if not more:
            raise EOFError
        data += more
    return data


def serve_socks(client, _, reply):
    with client:
        try:
            exactly(client, exactly(client, 2)[1])
            client.sendall(b"\x05\x00")
            length = exactly(client, 5)[4]
            name = exactly(client, length)
            say("connect", f"{name.decode()}:{int.from_bytes(exactly(client, 2), 'big')}")
            client.sendall(bytes([5, int(reply), 0, 1, 0, 0, 0, 0, 0, 0]))
            while client.recv(4096):
                pass
        except EOFError:
            pass


def main():
    mode, port = sys.argv[1], int(sys.argv[2])
    context = None
    if mode == "tls":
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        context.set_alpn_protocols(sys.argv[5].split(","))
        if len(sys.argv) > 6:
            context.set_ciphers("DEFAULT@SECLEVEL=0")
            context.minimum_version = ssl.TLSVersion[sys.argv[6]]
            context.maximum_version = ssl.TLSVersion[sys.argv[7]]
    listener = socket.create_server(("127.0.0.1", 0))
    say("listening", listener.getsockname()[1])
    serve = {"tls": serve_tls, "proxy": serve_proxy, "socks": serve_socks}[mode]
    if mode != "tls":
        context = sys.argv[3] if len(sys.argv) > 3 else None
    while True:
        client, _ = listener.accept()
        threading.Thread(target=serve, args=(client, port, context), daemon=True).start()


main()
