#include "CEchoServer.h"
#include "internal.h"

#include <curl/curl.h>
#include <errno.h>

/* The broker's limit of concurrent requests at one endpoint. */
enum { most_at_once = 32 };

static size_t drop(char *bytes, size_t size, size_t count, void *context) {
    (void)bytes;
    (void)context;
    return size * count;
}

static CURL *post(const char *url, const char *form) {
    CURL *easy = curl_easy_init();
    if (easy == NULL) return NULL;
    curl_easy_setopt(easy, CURLOPT_URL, url);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, form);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, drop);
    curl_easy_setopt(easy, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(easy, CURLOPT_TIMEOUT, 60L);
    return easy;
}

int http_posts(const char *url, const char *const *forms, size_t count, double *seconds) {
    CURLM *multi = curl_multi_init();
    if (multi == NULL) return ENOMEM;
    int code = 0;
    size_t begun = 0, done = 0;
    uint64_t start = bench_now();
    while (code == 0 && done < count) {
        for (; code == 0 && begun < count && begun - done < most_at_once; begun++) {
            CURL *easy = post(url, forms[begun]);
            if (easy == NULL || curl_multi_add_handle(multi, easy) != CURLM_OK) code = ENOMEM;
        }
        int running, left;
        if (curl_multi_perform(multi, &running) != CURLM_OK) code = EIO;
        for (CURLMsg *message; (message = curl_multi_info_read(multi, &left)) != NULL;) {
            if (message->msg != CURLMSG_DONE) continue;
            CURL *easy = message->easy_handle;
            if (message->data.result != CURLE_OK) code = EPROTO;
            curl_multi_remove_handle(multi, easy);
            curl_easy_cleanup(easy);
            done++;
        }
        if (running > 0) curl_multi_poll(multi, NULL, 0, 1000, NULL);
    }
    *seconds = (double)(bench_now() - start) / 1e9;
    curl_multi_cleanup(multi);
    return code;
}
