import BrokerHost
import Testing

@Suite("Names confirmed by Flatpak")
struct FlatpakInfoTests {
    private static let instance = "[Instance]\ninstance-id=123\n"

    @Test(
        "an application is named in the group Application, by a reverse-DNS name",
        arguments: [
            ("[Application]\nname=org.example.Mail\nruntime=x\n", "org.example.Mail"),
            ("[Runtime]\nname=org.example.Mail\n", nil),
            ("[Application]\nname=mail\n", nil), ("[Application]\nname=org..Mail\n", nil),
            ("[Application]\nname=org.example.Mail evil\n", nil), ("name=org.example.Mail\n", nil), ("", nil),
            ("[Other]\nname=a.b.c\n[Application]\nname=org.example.Mail\n", "org.example.Mail"),
            ("[Application]\nname=org.example.Mail\nname=org.example.Game\n", nil),
        ])
    func application(text: String, id: String?) {
        #expect(FlatpakInfo(text + Self.instance)?.application == id)
    }

    @Test("no name can be confirmed without an instance")
    func withoutInstance() {
        #expect(FlatpakInfo("[Application]\nname=org.example.Mail\n") == nil)
    }
}
