#include "include/CProviderKeys.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/rsa.h>
#include <openssl/x509.h>
#include <string.h>

// Three primes (RFC 8017, section 3.2) are found in a third of the time of two. The public key is like any other.
enum { modulus_bits = 2048, primes = 3, p256_point = 64 };

static EVP_PKEY *generate_rsa(void) {
    EVP_PKEY_CTX *options = EVP_PKEY_CTX_new_from_name(NULL, "RSA", NULL);
    EVP_PKEY *key = NULL;
    if (options && EVP_PKEY_keygen_init(options) == 1
        && EVP_PKEY_CTX_set_rsa_keygen_bits(options, modulus_bits) == 1
        && EVP_PKEY_CTX_set_rsa_keygen_primes(options, primes) == 1)
        (void)EVP_PKEY_generate(options, &key);
    EVP_PKEY_CTX_free(options);
    return key;
}

provider_key *provider_key_generate(const char *name) {
    EVP_PKEY *key;
    if (strcmp(name, "RSA") == 0)
        key = generate_rsa();
    else if (strcmp(name, "ED25519") == 0)
        key = EVP_PKEY_Q_keygen(NULL, NULL, name);
    else
        key = EVP_PKEY_Q_keygen(NULL, NULL, "EC", name);
    ERR_clear_error();
    return key;
}

provider_key *provider_key_p256(const uint8_t *point) {
    // SubjectPublicKeyInfo (RFC 5480, section 2): an elliptic curve's key, of the curve P-256, as an uncompressed point.
    static const uint8_t head[] = {
        0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x02, 0x01, 0x06,
        0x08, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00, 0x04,
    };
    uint8_t octets[sizeof head + p256_point];
    memcpy(octets, head, sizeof head);
    memcpy(octets + sizeof head, point, p256_point);
    const unsigned char *place = octets;
    // OpenSSL rejects a point that is not on the curve.
    EVP_PKEY *key = d2i_PUBKEY(NULL, &place, sizeof octets);
    ERR_clear_error();
    return key;
}

void provider_key_free(provider_key *key) { EVP_PKEY_free(key); }

/// Ed25519's key is a string of octets to OpenSSL, and no number.
static size_t ed25519_key(const provider_key *key, uint8_t *octets) {
    size_t count = provider_capacity;
    return EVP_PKEY_get_raw_public_key(key, octets, &count) == 1 ? count : 0;
}

size_t provider_key_number(const provider_key *key, enum provider_number number, uint8_t *octets) {
    static const char *const names[] = {
        [provider_n] = OSSL_PKEY_PARAM_RSA_N,    [provider_e] = OSSL_PKEY_PARAM_RSA_E,
        [provider_x] = OSSL_PKEY_PARAM_EC_PUB_X, [provider_y] = OSSL_PKEY_PARAM_EC_PUB_Y,
        [provider_d] = OSSL_PKEY_PARAM_PRIV_KEY,
    };
    if (EVP_PKEY_is_a(key, "ED25519")) return number == provider_x ? ed25519_key(key, octets) : 0;
    BIGNUM *value = NULL;
    int count = 0;
    if (EVP_PKEY_get_bn_param(key, names[number], &value) == 1) {
        count = EVP_PKEY_is_a(key, "EC") ? (EVP_PKEY_get_bits(key) + 7) / 8 : BN_num_bytes(value);
        if (count > provider_capacity || BN_bn2binpad(value, octets, count) != count) count = 0;
    }
    BN_clear_free(value);
    ERR_clear_error();
    return (size_t)count;
}
