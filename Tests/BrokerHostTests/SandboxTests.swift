import BrokerHost
import Testing

@Suite("Names that sandboxes vouch for")
struct SandboxTests {
    @Test(
        "a snap is named by a profile that is enforced",
        arguments: [
            ("snap.firefox.firefox (enforce)", "snap.firefox.firefox"),
            ("snap.firefox.firefox (complain)", nil), ("snap.firefox.firefox", nil), ("unconfined", nil),
            ("snapd.x.y (enforce)", nil), ("snap.firefox (enforce)", nil), ("", nil),
        ])
    func snap(label: String, id: String?) {
        #expect(Sandbox.snapID(label: label) == id)
    }

    @Test(
        "a Flatpak is named in the group Application, by a reverse-DNS name",
        arguments: [
            ("[Application]\nname=org.example.Mail\nruntime=x\n", "org.example.Mail"),
            ("[Runtime]\nname=org.example.Mail\n", nil),
            ("[Application]\nname=mail\n", nil), ("[Application]\nname=org..Mail\n", nil),
            ("[Application]\nname=org.example.Mail evil\n", nil), ("name=org.example.Mail\n", nil), ("", nil),
            ("[Other]\nname=a.b.c\n[Application]\nname=org.example.Mail\n", "org.example.Mail"),
        ])
    func flatpak(info: String, id: String?) {
        #expect(Sandbox.flatpakID(info: info) == id)
    }

    @Test("only the kernel's own record of Flatpak's mount makes us look into a peer's root")
    func mounts() {
        let real =
            "36 35 98:0 / / rw - overlay o rw\n52 36 0:41 /i /.flatpak-info ro,nosuid shared:1 - tmpfs tmpfs rw\n"
        #expect(Sandbox.hasFlatpakMount(real))
        let fuse = "52 36 0:41 / /.flatpak-info ro,nosuid - fuse.evil evil rw\n"
        #expect(!Sandbox.hasFlatpakMount(fuse))
        #expect(!Sandbox.hasFlatpakMount("36 35 98:0 / / rw - tmpfs o rw\n"))
        #expect(!Sandbox.hasFlatpakMount("52 36 0:41 / /x/.flatpak-info ro - tmpfs tmpfs rw\n"))
        #expect(!Sandbox.hasFlatpakMount("garbage"))
    }
}
