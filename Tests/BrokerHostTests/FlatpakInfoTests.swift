import BrokerHost
import Testing

@Suite("Names that Flatpak vouches for")
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

    @Test("without an instance nothing can be confirmed")
    func withoutInstance() {
        #expect(FlatpakInfo("[Application]\nname=org.example.Mail\n") == nil)
    }

    @Test("only the kernel's own record of Flatpak's mount makes us look into a peer's root")
    func mounts() {
        func isMounted(_ text: String) -> Bool {
            var text = text
            return text.withUTF8 { FlatpakInfo.isMounted(UnsafeRawBufferPointer($0)) }
        }
        let real =
            "36 35 0:40 / / rw - tmpfs tmpfs rw\n52 36 0:41 /i /.flatpak-info ro,nosuid shared:1 - tmpfs tmpfs rw\n"
        #expect(isMounted(real))
        let root = "36 35 0:40 / / rw - tmpfs tmpfs rw\n"
        #expect(!isMounted(root + "52 36 0:41 / /.flatpak-info ro,nosuid - fuse.evil evil rw\n"))
        #expect(!isMounted("36 35 0:40 / / rw - fuse.evil evil rw\n" + real.drop { $0 != "\n" }.dropFirst()))
        #expect(!isMounted("36 35 98:0 / / rw - tmpfs o rw\n"))
        #expect(!isMounted(root + "52 36 0:41 / /x/.flatpak-info ro - tmpfs tmpfs rw\n"))
        #expect(!isMounted("garbage"))
    }
}
