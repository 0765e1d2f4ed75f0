#include "include/CSignatures.h"

#include <openssl/bn.h>
#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/ec.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/param_build.h>
#include <string.h>

enum {
    smallest_modulus = 2048,
    largest_modulus = 8192,
    largest_exponent = 64,
    /// The octets of P-521's field.
    largest_field = 66,
    p256_field = 32,
};

void broker_key_free(broker_key *key) { EVP_PKEY_free(key); }

static broker_key *made(const char *type, int parts, OSSL_PARAM *parameters) {
    EVP_PKEY *key = NULL;
    EVP_PKEY_CTX *context = EVP_PKEY_CTX_new_from_name(NULL, type, NULL);
    if (context && parameters && EVP_PKEY_fromdata_init(context) == 1)
        EVP_PKEY_fromdata(context, &key, parts, parameters);
    EVP_PKEY_CTX_free(context);
    ERR_clear_error();
    return key;
}

// The cost of verifying grows with both: a provider's document must not choose it freely.
static bool is_usable(const BIGNUM *modulus, const BIGNUM *exponent) {
    int bits = BN_num_bits(modulus);
    return bits >= smallest_modulus && bits <= largest_modulus && BN_is_odd(modulus) && BN_is_odd(exponent)
        && !BN_is_one(exponent) && BN_num_bits(exponent) <= largest_exponent;
}

broker_key *broker_rsa_key(struct broker_octets modulus, struct broker_octets exponent) {
    broker_key *key = NULL;
    if (modulus.count > largest_modulus || exponent.count > largest_modulus) return NULL;
    BIGNUM *n = BN_bin2bn(modulus.bytes, (int)modulus.count, NULL);
    BIGNUM *e = BN_bin2bn(exponent.bytes, (int)exponent.count, NULL);
    OSSL_PARAM_BLD *builder = OSSL_PARAM_BLD_new();
    if (n && e && builder && is_usable(n, e) && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_N, n)
        && OSSL_PARAM_BLD_push_BN(builder, OSSL_PKEY_PARAM_RSA_E, e)) {
        OSSL_PARAM *parameters = OSSL_PARAM_BLD_to_param(builder);
        key = made("RSA", EVP_PKEY_PUBLIC_KEY, parameters);
        OSSL_PARAM_free(parameters);
    }
    OSSL_PARAM_BLD_free(builder);
    BN_free(e);
    BN_free(n);
    return key;
}

static size_t field(const char *curve) {
    if (strcmp(curve, "P-256") == 0) return p256_field;
    if (strcmp(curve, "P-384") == 0) return 48;
    return strcmp(curve, "P-521") == 0 ? largest_field : 0;
}

/// Some providers leave out leading zeros, which RFC 7518, section 6.2.1.2, requires.
static bool fill(uint8_t *place, size_t size, struct broker_octets number) {
    if (number.count > size || number.count == 0) return false;
    memset(place, 0, size - number.count);
    memcpy(place + size - number.count, number.bytes, number.count);
    return true;
}

broker_key *broker_ec_key(const char *curve, struct broker_octets x, struct broker_octets y) {
    size_t size = field(curve);
    uint8_t point[1 + 2 * largest_field] = {POINT_CONVERSION_UNCOMPRESSED};
    if (size == 0 || !fill(point + 1, size, x) || !fill(point + 1 + size, size, y)) return NULL;
    // OpenSSL rejects a point that is not on the curve.
    OSSL_PARAM parameters[] = {
        OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, (char *)curve, 0),
        OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, point, 1 + 2 * size),
        OSSL_PARAM_construct_end(),
    };
    return made("EC", EVP_PKEY_PUBLIC_KEY, parameters);
}

broker_key *broker_ed25519_key(struct broker_octets octets) {
    EVP_PKEY *key = EVP_PKEY_new_raw_public_key(EVP_PKEY_ED25519, NULL, octets.bytes, octets.count);
    ERR_clear_error();
    return key;
}

/// The private key times the curve's generator, without OpenSSL's leading octet.
static bool multiply(const BIGNUM *number, uint8_t *point) {
    EC_GROUP *group = EC_GROUP_new_by_curve_name(NID_X9_62_prime256v1);
    EC_POINT *product = group ? EC_POINT_new(group) : NULL;
    bool is_key = product && !BN_is_zero(number) && BN_cmp(number, EC_GROUP_get0_order(group)) < 0
        && EC_POINT_mul(group, product, number, NULL, NULL, NULL) == 1
        && EC_POINT_point2oct(group, product, POINT_CONVERSION_UNCOMPRESSED, point, 1 + 2 * p256_field, NULL)
            == 1 + 2 * p256_field;
    EC_POINT_clear_free(product);
    EC_GROUP_free(group);
    return is_key;
}

broker_key *broker_p256_pair(const uint8_t *private_key, uint8_t *point) {
    broker_key *key = NULL;
    // OpenSSL's parameters are in the machine's byte order.
    uint8_t scalar[p256_field], public_key[1 + 2 * p256_field];
    BIGNUM *number = BN_bin2bn(private_key, p256_field, NULL);
    if (number) BN_set_flags(number, BN_FLG_CONSTTIME);
    if (number && multiply(number, public_key) && BN_bn2nativepad(number, scalar, sizeof scalar) == sizeof scalar) {
        OSSL_PARAM parameters[] = {
            OSSL_PARAM_construct_utf8_string(OSSL_PKEY_PARAM_GROUP_NAME, "P-256", 0),
            OSSL_PARAM_construct_BN(OSSL_PKEY_PARAM_PRIV_KEY, scalar, sizeof scalar),
            OSSL_PARAM_construct_octet_string(OSSL_PKEY_PARAM_PUB_KEY, public_key, sizeof public_key),
            OSSL_PARAM_construct_end(),
        };
        key = made("EC", EVP_PKEY_KEYPAIR, parameters);
        memcpy(point, public_key + 1, 2 * p256_field);
    }
    OPENSSL_cleanse(scalar, sizeof scalar);
    BN_clear_free(number);
    return key;
}
