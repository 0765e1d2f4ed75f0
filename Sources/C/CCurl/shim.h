#ifndef BROKER_CCURL_SHIM_H
#define BROKER_CCURL_SHIM_H

#include <curl/curl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

/* Swift cannot call variadic C, so each argument type that curl_easy_setopt, curl_multi_setopt and curl_easy_getinfo
   take has a function of its own here. The type in the name is the one libcurl documents for the option. */

typedef size_t (*ccurl_data_callback)(char *bytes, size_t size, size_t count, void *context);
typedef int (*ccurl_prereq_callback)(
    void *context, char *remote_address, char *local_address, int remote_port, int local_port);

static inline CURLcode ccurl_set_long(CURL *easy, CURLoption option, long value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_offset(CURL *easy, CURLoption option, curl_off_t value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_string(CURL *easy, CURLoption option, const char *value) {
    return curl_easy_setopt(easy, option, value);
}

static inline CURLcode ccurl_set_pointer(CURL *easy, CURLoption option, void *value) {
    return curl_easy_setopt(easy, option, value);
}

/* Copies the bytes, as CURL_BLOB_COPY does. */
static inline CURLcode ccurl_set_blob(CURL *easy, CURLoption option, const void *bytes, size_t count) {
    struct curl_blob blob = {(void *)bytes, count, CURL_BLOB_COPY};
    return curl_easy_setopt(easy, option, &blob);
}

static inline CURLcode ccurl_set_data_callback(CURL *easy, CURLoption option, ccurl_data_callback callback) {
    return curl_easy_setopt(easy, option, callback);
}

/* Allows only this scheme. Before 7.85 libcurl lacks the option with text, and uses a number with a bit for each scheme instead. */
static inline CURLcode ccurl_set_scheme(CURL *easy, bool is_secure) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, is_secure ? "https" : "http");
    if (result != CURLE_UNKNOWN_OPTION) return result;
    const long schemes = is_secure ? CURLPROTO_HTTPS : CURLPROTO_HTTP;
    return curl_easy_setopt(easy, (CURLoption)(CURLOPTTYPE_LONG + 181), schemes);
}

/* A name that is not resolved in time is abandoned: otherwise libcurl waits for its resolver's thread, and all transfers with it,
   as it does before 7.87. */
static inline CURLcode ccurl_set_quick_exit(CURL *easy) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
    return result == CURLE_UNKNOWN_OPTION ? CURLE_OK : result;
}

static inline CURLcode ccurl_set_prereq_callback(CURL *easy, ccurl_prereq_callback callback) {
    return curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, callback);
}

static int ccurl_socket_made(void *milliseconds, curl_socket_t made, curlsocktype purpose) {
    unsigned int limit = (unsigned int)(uintptr_t)milliseconds;
    (void)purpose;
    /* If this fails, the transfer's own time limit still applies. */
    (void)setsockopt(made, IPPROTO_TCP, TCP_USER_TIMEOUT, &limit, sizeof(limit));
    return CURL_SOCKOPT_OK;
}

/* Sets how long sent bytes may stay unacknowledged before the connection counts as lost (TCP_USER_TIMEOUT, tcp(7)). */
static inline CURLcode ccurl_set_unacknowledged(CURL *easy, unsigned int milliseconds) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, ccurl_socket_made);
    return result != CURLE_OK ? result
                              : curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, (void *)(uintptr_t)milliseconds);
}

/* Whether a connection to the address may be made. */
typedef int (*ccurl_address_callback)(void *context, const struct sockaddr *address);

struct ccurl_address_check {
    ccurl_address_callback allows;
    void *context;
};

static curl_socket_t ccurl_open_socket(void *check, curlsocktype purpose, struct curl_sockaddr *address) {
    const struct ccurl_address_check *asked = (const struct ccurl_address_check *)check;
    (void)purpose;
    if (!asked->allows(asked->context, &address->addr)) return CURL_SOCKET_BAD;
    return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
}

/* The check has to outlive the transfer. */
static inline CURLcode ccurl_set_address_check(CURL *easy, struct ccurl_address_check *check) {
    CURLcode result = curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, ccurl_open_socket);
    return result != CURLE_OK ? result : curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, check);
}

/* A separate connection cache for the easy handles that use the share; for one thread. */
static inline CURLSH *ccurl_make_connection_share(void) {
    CURLSH *share = curl_share_init();
    if (share && curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_CONNECT) != CURLSHE_OK) {
        curl_share_cleanup(share);
        return NULL;
    }
    return share;
}

static inline CURLcode ccurl_get_long(CURL *easy, CURLINFO info, long *value) {
    return curl_easy_getinfo(easy, info, value);
}

static inline CURLMcode ccurl_multi_set_long(CURLM *multi, CURLMoption option, long value) {
    return curl_multi_setopt(multi, option, value);
}

static inline const curl_version_info_data *ccurl_version(void) {
    return curl_version_info(CURLVERSION_NOW);
}

/* The fields of a CURLMSG_DONE message, which Swift would have to read out of a union. */
static inline int ccurl_next_done(CURLM *multi, CURL **easy, CURLcode *result) {
    int left = 0;
    CURLMsg *message;
    while ((message = curl_multi_info_read(multi, &left)) != NULL) {
        if (message->msg != CURLMSG_DONE) continue;
        *easy = message->easy_handle;
        *result = message->data.result;
        return 1;
    }
    return 0;
}

#endif
