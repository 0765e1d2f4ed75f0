#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// JSON Web Signatures (RFC 7518) by OpenSSL, whose parameter names are pointers that must outlive Swift's temporary strings.
//
// Numbers are octets with the most significant first, as in a JSON Web Key. A digest has OpenSSL's name: SHA2-256, SHA2-384,
// SHA2-512. Nothing here retains its arguments.

struct broker_octets {
    const uint8_t *bytes;
    size_t count;
};

/// A public key, or a key pair.
typedef struct evp_pkey_st broker_key;

/// The RSA key with this modulus and exponent. NULL if the modulus has less than 2,048 or more than 8,192 bits (RFC 7518, section
/// 3.3), or the exponent is invalid for RSA.
broker_key *broker_rsa_key(struct broker_octets modulus, struct broker_octets exponent);

/// The public key with this point of a curve, which is P-256, P-384 or P-521. NULL if the point is not on the curve.
broker_key *broker_ec_key(const char *curve, struct broker_octets x, struct broker_octets y);

/// The public key of Ed25519. NULL if the octets are no such key.
broker_key *broker_ed25519_key(struct broker_octets key);

/// The key pair of P-256 with this private key of 32 octets; NULL if that is 0 or not below the curve's order.
///
/// Writes the public key, x and y, 32 octets each.
broker_key *broker_p256_pair(const uint8_t *private_key, uint8_t *point);

void broker_key_free(broker_key *key);

/// Whether the signature is valid: RSA's with PKCS#1 v1.5, or PSS with a salt as long as the digest; ECDSA's as r and s, each
/// with as many octets as the curve's field (RFC 7518, section 3.3 to 3.5); Ed25519's (RFC 8037, section 3.1), without a digest.
bool broker_signature_is_valid(
    broker_key *key, const char *digest, bool is_pss, struct broker_octets signature, struct broker_octets message);

/// Signs with ES256 (RFC 7518, section 3.4). Writes 64 octets. Returns whether it succeeded.
bool broker_es256_sign(broker_key *key, struct broker_octets message, uint8_t *signature);

/// Writes the digest, at most 64 octets. Returns their number; 0 if there is no such digest.
size_t broker_digest(const char *digest, struct broker_octets message, uint8_t *octets);

/// Whether the octets are the message's HMAC with SHA-256 (RFC 7518, section 3.2), compared in constant time.
bool broker_hs256_is_valid(struct broker_octets key, struct broker_octets octets, struct broker_octets message);
