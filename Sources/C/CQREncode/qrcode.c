#include "qrcode.h"

#include <dlfcn.h>
#include <pthread.h>

static pthread_once_t once = PTHREAD_ONCE_INIT;
static __typeof__(QRcode_encodeData) *encode;
static __typeof__(QRcode_free) *release;

static void load(void) {
    void *library = dlopen("libqrencode.so.4", RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) return;
    *(void **)&encode = dlsym(library, "QRcode_encodeData");
    *(void **)&release = dlsym(library, "QRcode_free");
}

QRcode *broker_qr_encode(const unsigned char *bytes, int count) {
    pthread_once(&once, load);
    if (encode == NULL || release == NULL) return NULL;
    // Level L: a screen is neither scratched nor dirty, and a smaller symbol fits more terminals.
    return encode(count, bytes, 0, QR_ECLEVEL_L);
}

void broker_qr_free(QRcode *symbol) { release(symbol); }
