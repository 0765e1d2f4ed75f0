#include "include/CSignatures.h"

#include <openssl/bn.h>
#include <openssl/crypto.h>
#include <openssl/ecdsa.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/hmac.h>
#include <openssl/rsa.h>

enum { es256_half = 32, sha256_size = 32 };

/// r and s in OpenSSL's form, DER. The caller frees it; NULL if they have the wrong length.
static unsigned char *der(broker_key *key, struct broker_octets signature, size_t *count) {
    unsigned char *octets = NULL;
    int half = (EVP_PKEY_get_bits(key) + 7) / 8, size = 0;
    if (signature.count != 2 * (size_t)half) return NULL;
    ECDSA_SIG *pair = ECDSA_SIG_new();
    BIGNUM *r = BN_bin2bn(signature.bytes, half, NULL), *s = BN_bin2bn(signature.bytes + half, half, NULL);
    if (pair && r && s && ECDSA_SIG_set0(pair, r, s) == 1) {
        // They belong to the pair now.
        r = s = NULL;
        size = i2d_ECDSA_SIG(pair, &octets);
    }
    BN_free(s);
    BN_free(r);
    ECDSA_SIG_free(pair);
    *count = size > 0 ? (size_t)size : 0;
    return octets;
}

static bool pads_with_salt(EVP_PKEY_CTX *options) {
    return EVP_PKEY_CTX_set_rsa_padding(options, RSA_PKCS1_PSS_PADDING) == 1
        && EVP_PKEY_CTX_set_rsa_pss_saltlen(options, RSA_PSS_SALTLEN_DIGEST) == 1;
}

bool broker_signature_is_valid(
    broker_key *key, const char *digest, bool is_pss, struct broker_octets signature, struct broker_octets message) {
    unsigned char *converted = NULL;
    if (EVP_PKEY_is_a(key, "EC")) {
        converted = der(key, signature, &signature.count);
        if (!converted) return false;
        signature.bytes = converted;
    }
    EVP_PKEY_CTX *options = NULL;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_valid = context && EVP_DigestVerifyInit_ex(context, &options, digest, NULL, NULL, key, NULL) == 1
        && (!is_pss || pads_with_salt(options))
        && EVP_DigestVerify(context, signature.bytes, signature.count, message.bytes, message.count) == 1;
    EVP_MD_CTX_free(context);
    OPENSSL_free(converted);
    ERR_clear_error();
    return is_valid;
}

bool broker_es256_sign(broker_key *key, struct broker_octets message, uint8_t *signature) {
    unsigned char octets[80];
    size_t count = sizeof octets;
    EVP_MD_CTX *context = EVP_MD_CTX_new();
    bool is_signed = context && EVP_DigestSignInit_ex(context, NULL, "SHA2-256", NULL, NULL, key, NULL) == 1
        && EVP_DigestSign(context, octets, &count, message.bytes, message.count) == 1;
    EVP_MD_CTX_free(context);
    const unsigned char *place = octets;
    ECDSA_SIG *pair = is_signed ? d2i_ECDSA_SIG(NULL, &place, (long)count) : NULL;
    is_signed = pair && BN_bn2binpad(ECDSA_SIG_get0_r(pair), signature, es256_half) == es256_half
        && BN_bn2binpad(ECDSA_SIG_get0_s(pair), signature + es256_half, es256_half) == es256_half;
    ECDSA_SIG_free(pair);
    ERR_clear_error();
    return is_signed;
}

size_t broker_digest(const char *digest, struct broker_octets message, uint8_t *octets) {
    size_t count = 0;
    return EVP_Q_digest(NULL, digest, NULL, message.bytes, message.count, octets, &count) == 1 ? count : 0;
}

bool broker_hs256_is_valid(struct broker_octets key, struct broker_octets octets, struct broker_octets message) {
    uint8_t right[EVP_MAX_MD_SIZE];
    unsigned int count = 0;
    bool is_valid = octets.count == sha256_size
        && HMAC(EVP_sha256(), key.bytes, (int)key.count, message.bytes, message.count, right, &count)
        && count == sha256_size && CRYPTO_memcmp(right, octets.bytes, sha256_size) == 0;
    OPENSSL_cleanse(right, sizeof right);
    return is_valid;
}
