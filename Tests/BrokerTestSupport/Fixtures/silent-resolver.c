// Preloaded into a program: looking up a name below hangs.test never comes to an end.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <netdb.h>
#include <string.h>
#include <unistd.h>

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    const char *hangs = node ? strstr(node, ".hangs.test") : NULL;
    while (hangs) pause();
    __typeof__(&getaddrinfo) real = (__typeof__(real))dlsym(RTLD_NEXT, "getaddrinfo");
    return real(node, service, hints, result);
}
