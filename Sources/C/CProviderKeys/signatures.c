#include "include/CProviderKeys.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>

static int half(const provider_key *key) { return (EVP_PKEY_get_bits(key) + 7) / 8; }

/// r and s, read from OpenSSL's form, DER.
static size_t halves(const provider_key *key, const uint8_t *der, size_t count, uint8_t *signature) {
    int size = half(key);
    ECDSA_SIG *pair = d2i_ECDSA_SIG(NULL, &der, (long)count);
    bool is_written = pair && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, size) == size
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + size, size) == size;
    ECDSA_SIG_free(pair);
    return is_written ? 2 * (size_t)size : 0;
}

static bool pads_with_salt(EVP_PKEY_CTX *options) {
    return EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1
        && EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1;
}

size_t provider_sign(
    provider_key *key, const char *digest, bool is_pss, struct provider_octets message, uint8_t *signature) {
    uint8_t octets[provider_capacity];
    bool is_curve = EVP_PKEY_is_a(key, "EC");
    uint8_t *place = is_curve ? octets : signature;
    size_t count = provider_capacity;
    EVP_PKEY_CTX *options = NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_signed = context && EVP_DigestSignInit_ex(context, &options, digest, NULL, NULL, key, NULL) == 1
        && (!is_pss || pads_with_salt(options))
        && EVP_DigestSign(context, place, &count, message.bytes, message.count) == 1;
    EVP_MD_CTX_free(context);
    if (!is_signed)
        count = 0;
    else if (is_curve)
        count = halves(key, octets, count, signature);
    ERR_clear_error();
    return count;
}

/// OpenSSL's form of r and s. The caller frees it; NULL if they have another length than the field.
static unsigned char *der(const provider_key *key, struct provider_octets signature, size_t *count) {
    unsigned char *octets = NULL;
    int size = half(key), written = 0;
    if (signature.count != 2 * (size_t)size) return NULL;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature.bytes, size, NULL), *s = BN_bin2bn(signature.bytes + size, size, NULL);
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        // They belong to the pair now.
        r = s = NULL;
        written = i2d_ECDSA_SIG(pair, &octets);
    }
    BN_free(s);
    BN_free(r);
    ECDSA_SIG_free(pair);
    *count = written > 0 ? (size_t)written : 0;
    return octets;
}

bool provider_signature_is_valid(
    provider_key *key, const char *digest, struct provider_octets signature, struct provider_octets message) {
    unsigned char *converted = NULL;
    bool is_valid = false;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    if (EVP_PKEY_is_a(key, "EC")) signature.bytes = converted = der(key, signature, &signature.count);
    if (context && signature.bytes)
        is_valid = EVP_DigestVerifyInit_ex(context, NULL, digest, NULL, NULL, key, NULL) == 1
            && EVP_DigestVerify(context, signature.bytes, signature.count, message.bytes, message.count) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(converted);
    ERR_clear_error();
    return is_valid;
}

size_t provider_digest(const char *digest, struct provider_octets message, uint8_t *octets) {
    size_t count = 0;
    bool is_there = EVP_Q_digest(NULL, digest, NULL, message.bytes, message.count, octets, &count) == 1;
    ERR_clear_error();
    return is_there ? count : 0;
}
