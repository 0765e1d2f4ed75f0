#!/usr/bin/python3
"""As much of a Kubernetes API server as `kubectl get pods` asks for, on loopback, for whoever has the right token.

    kube-server.py CERTIFICATE KEY TOKENS

TOKENS is a file with one token that is taken in each line; it is read for each request. Says `listening PORT`, then a line for
each request: its status and path.
"""
import http.server
import json
import ssl
import sys

CERTIFICATE, KEY, TOKENS = sys.argv[1:4]
POD = {"metadata": {"name": "pod-one", "namespace": "default"}, "spec": {"containers": []}, "status": {"phase": "Running"}}
ANSWERS = {
    "/version": {"major": "1", "minor": "20", "gitVersion": "v1.20.2"},
    "/api": {"kind": "APIVersions", "versions": ["v1"], "serverAddressByClientCIDRs": []},
    "/apis": {"kind": "APIGroupList", "apiVersion": "v1", "groups": []},
    "/api/v1": {"kind": "APIResourceList", "apiVersion": "v1", "groupVersion": "v1", "resources": [
        {"name": "pods", "singularName": "", "namespaced": True, "kind": "Pod", "verbs": ["get", "list"], "shortNames": ["po"]}]},
    "/api/v1/namespaces/default/pods": {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": [POD]},
}


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def do_GET(self):
        path = self.path.partition("?")[0]
        with open(TOKENS, encoding="ascii") as tokens:
            is_known = self.headers.get("Authorization", "") in ["Bearer " + line.strip() for line in tokens]
        status = 200 if path in ANSWERS else 404
        if not is_known:
            status = 401
        answer = {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": status, "reason": {
            401: "Unauthorized", 404: "NotFound", 200: ""}[status]}
        body = json.dumps(ANSWERS[path] if status == 200 else answer).encode()
        print(status, path, flush=True)
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
server.socket = context.wrap_socket(server.socket, server_side=True)
print("listening", server.server_address[1], flush=True)
server.serve_forever()
