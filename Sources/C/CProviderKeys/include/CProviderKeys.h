#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// A provider's side of JSON Web Signatures (RFC 7518) by OpenSSL, for the development provider and for tests.
//
// It shares no code with CSignatures, the broker's side: a mistake in one of them is found by the other. A digest has OpenSSL's
// name: SHA2-256, SHA2-384, SHA2-512. Nothing here retains its arguments.

struct provider_octets {
    const uint8_t *bytes;
    size_t count;
};

/// A key pair, or a public key.
typedef struct evp_pkey_st provider_key;

/// The members of a JSON Web Key that are numbers: n and e of RSA; x, y and the private d of a curve.
enum provider_number { provider_n, provider_e, provider_x, provider_y, provider_d };

/// The most octets of a result: of a number, a signature or a digest.
enum { provider_capacity = 512 };

/// A new pair: RSA with 2,048 bits, P-256, P-384, P-521 or ED25519. NULL if OpenSSL makes none.
provider_key *provider_key_generate(const char *name);

/// The public key of P-256 with this point: x and y, 32 octets each. NULL if the point is not on the curve.
provider_key *provider_key_p256(const uint8_t *point);

void provider_key_free(provider_key *key);

/// Writes a number, the most significant octet first; a curve's has as many octets as its field (RFC 7518, section 6.2.1.2), and
/// RSA's no leading zeros. Ed25519's only one is x (RFC 8037, section 2).
///
/// Returns the number of octets; 0 if the key has no such number.
size_t provider_key_number(const provider_key *key, enum provider_number number, uint8_t *octets);

/// Signs with PKCS#1 v1.5, or with PSS and a salt as long as the digest; with ECDSA, as r and s in the full length of the field;
/// or with Ed25519, without a digest.
///
/// Returns the number of octets; 0 if OpenSSL refuses, or if the key is only a public one.
size_t provider_sign(
    provider_key *key, const char *digest, bool is_pss, struct provider_octets message, uint8_t *signature);

/// Whether a signature of `provider_sign` is valid; not for PSS.
bool provider_signature_is_valid(
    provider_key *key, const char *digest, struct provider_octets signature, struct provider_octets message);

/// Returns the number of octets of the digest; 0 if OpenSSL has no such digest.
size_t provider_digest(const char *digest, struct provider_octets message, uint8_t *octets);
