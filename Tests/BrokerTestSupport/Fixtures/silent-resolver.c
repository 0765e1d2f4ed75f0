// Preloaded into a program: looking up a name below hangs.test never comes to an end. Each such look-up adds a byte to the
// file LOOKUPS, which is named when this is compiled (brokerd keeps no variable that it does not know), so that a test can wait
// until they hang.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <netdb.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void tell(void) {
    int file = open(LOOKUPS, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (file < 0 || write(file, ".", 1) != 1) abort();
    close(file);
}

int getaddrinfo(const char *node, const char *service, const struct addrinfo *hints, struct addrinfo **result) {
    const char *hangs = node ? strstr(node, ".hangs.test") : NULL;
    if (hangs) tell();
    while (hangs) pause();
    __typeof__(&getaddrinfo) real = (__typeof__(real))dlsym(RTLD_NEXT, "getaddrinfo");
    return real(node, service, hints, result);
}
