# A person's actions with GNOME Keyring, by the interface that its own programs use.
#
#   gnome-keyring.py open                  makes a keyring without a password, and makes it the default
#   gnome-keyring.py unlock PATH WORD      opens a keyring with its password
import dbus, sys
bus = dbus.SessionBus()
service = bus.get_object('org.freedesktop.secrets', '/org/freedesktop/secrets')
secrets = dbus.Interface(service, 'org.freedesktop.Secret.Service')
own = dbus.Interface(service, 'org.gnome.keyring.InternalUnsupportedGuiltRiddenInterface')
session = secrets.OpenSession('plain', '')[1]
def secret(word):
    return dbus.Struct((session, dbus.ByteArray(b''), dbus.ByteArray(word.encode()), 'text/plain'), signature='oayays')
if sys.argv[1] == 'open':
    path = own.CreateWithMasterPassword({'org.freedesktop.Secret.Collection.Label': 'Open'}, secret(''))
    secrets.SetAlias('default', path)
    print(path)
else:
    own.UnlockWithMasterPassword(dbus.ObjectPath(sys.argv[2]), secret(sys.argv[3]))
