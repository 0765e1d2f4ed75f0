import BrokerModel
import BrokerOAuth

/// The real signer: keys and signatures have no double.
package func testProofSigner() -> any ProofSigner { ES256ProofSigner(random: CountingRandom()) }
