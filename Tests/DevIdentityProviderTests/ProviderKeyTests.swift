import BrokerModel
import DevIdentityProvider
import Foundation
import Testing

@Suite("The development provider's keys")
struct ProviderKeyTests {
    private static let message = Array("message".utf8)

    private func bytes(_ text: String) throws -> Data { Data(try #require(Base64URL.decode(text.utf8))) }

    @Test(
        "digests are those of FIPS 180-4",
        arguments: [
            (Digest.sha256, 32, "ba7816bf8f01cfea"), (.sha384, 48, "cb00753f45a35e8b"),
            (.sha512, 64, "ddaf35a193617aba"),
        ])
    func digests(digest: Digest, count: Int, start: String) throws {
        try digest.check()
        let value = digest.of("abc".utf8)
        #expect(value.count == count)
        #expect(value.prefix(8).map { String(format: "%02x", $0) }.joined() == start)
    }

    @Test("the signature of RFC 7515, appendix A.3, is valid, and no other one")
    func example() throws {
        let x = try bytes("f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU")
        let y = try bytes("x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0")
        let signed =
            "eyJhbGciOiJFUzI1NiJ9.eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290"
            + "Ijp0cnVlfQ"
        let signature = try bytes(
            "DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q")
        let key = try #require(ProviderKey(p256: x, y))
        #expect(key.number(.x) == x && key.number(.y) == y && key.number(.d).isEmpty)
        #expect(key.verifies(signature, of: signed.utf8))
        #expect(!key.verifies(signature, of: "\(signed)A".utf8))
        for wrong in [signature.dropLast(), signature + [0], Data(count: 64), Data(), Data(signature.reversed())] {
            #expect(!key.verifies(wrong, of: signed.utf8))
        }
        #expect(throws: KeyFailure.self) { try key.signature(of: signed.utf8) }
        #expect(ProviderKey(p256: y, x) == nil, "no point of the curve")
        #expect(ProviderKey(p256: x.dropLast(), y) == nil)
        #expect(ProviderKey(p256: x + [0], y) == nil)
    }

    @Test("a signature is valid for its key and its message only", arguments: [ProviderKey.Kind.rsa, .p256])
    func ownSignatures(kind: ProviderKey.Kind) throws {
        let (key, other) = (try ProviderKey(kind), try ProviderKey(kind))
        var signature = try key.signature(of: Self.message)
        #expect(key.verifies(signature, of: Self.message))
        #expect(!key.verifies(signature, of: Self.message + [0]))
        #expect(!other.verifies(signature, of: Self.message))
        #expect(!key.verifies(Data(), of: Self.message))
        signature[5] ^= 1
        #expect(!key.verifies(signature, of: Self.message))
    }

    @Test(
        "numbers and signatures have the lengths of RFC 7518 and RFC 8037",
        arguments: [
            (.rsa, .sha512, 256, [256, 3, 0, 0]), (.p256, .sha256, 64, [0, 0, 32, 32]),
            (.p384, .sha384, 96, [0, 0, 48, 48]), (.p521, .sha512, 132, [0, 0, 66, 66]),
            (.ed25519, nil, 64, [0, 0, 32, 0]),
        ] as [(ProviderKey.Kind, Digest?, Int, [Int])])
    func lengths(kind: ProviderKey.Kind, digest: Digest?, signature: Int, numbers: [Int]) throws {
        let key = try ProviderKey(kind)
        // Some numbers, and some halves of a signature, begin with a zero.
        for _ in 0..<50 { #expect(try key.signature(of: Self.message, digest: digest).count == signature) }
        let members: [ProviderKey.Member] = [.n, .e, .x, .y]
        #expect(members.map { key.number($0).count } == numbers)
    }

    @Test("a coordinate and a private number keep their leading zeros")
    func leadingZeros() throws {
        for member in [ProviderKey.Member.x, .d] {
            var key = try ProviderKey(.p256)
            while key.number(member).first != 0 { key = try ProviderKey(.p256) }
            #expect(key.number(member).count == 32)
        }
    }
}
