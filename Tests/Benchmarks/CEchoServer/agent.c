#include "CEchoServer.h"
#include "internal.h"

#include <dlfcn.h>
#include <errno.h>

/* oidc-agent's library is not needed for building: it is loaded if oidc-agent is installed. */
int agent_tokens(const char *account, size_t count, uint64_t *nanoseconds) {
    void *library = dlopen("liboidc-agent.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return ENOENT;
    char *(*token)(const char *, unsigned long, const char *, const char *);
    *(void **)&token = dlsym(library, "getAccessToken");
    void (*free_token)(void *);
    *(void **)&free_token = dlsym(library, "_secFree");
    if (token == NULL || free_token == NULL) return ENOSYS;
    for (size_t index = 0; index < count; index++) {
        uint64_t start = bench_now();
        char *text = token(account, 0, NULL, "bench");
        nanoseconds[index] = bench_now() - start;
        if (text == NULL) return EPROTO;
        free_token(text);
    }
    return 0;
}
