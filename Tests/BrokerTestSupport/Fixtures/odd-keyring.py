# A Secret Service that does what real ones do at bad moments. One collection, in memory.
#
#   odd-keyring.py FOLDER
#
# Files in FOLDER say how it is, and are looked at for each call:
#   silent       calls are kept, and answered when the file is gone
#   locked       the collection is locked
#   empty        there is no default collection
#   prompts      Unlock has a prompt; its content says how that ends: opened, dismissed, or asked: never, until the file changes
# It tells of the collection whenever one of them changes. `asked` is made when a prompt is shown.
import os, sys
import dbus, dbus.service
from dbus.mainloop.glib import DBusGMainLoop
from gi.repository import GLib
folder, items, kept = sys.argv[1], {}, []
root, collection = '/org/freedesktop/secrets', '/org/freedesktop/secrets/collection/odd'
SERVICE, COLLECTION, ITEM, PROMPT = ('org.freedesktop.Secret.' + n for n in ('Service', 'Collection', 'Item', 'Prompt'))
PROPERTIES = 'org.freedesktop.DBus.Properties'
def has(name): return os.path.exists(f'{folder}/{name}')
def word(name): return open(f'{folder}/{name}').read().strip() if has(name) else ''
def drop(name):
    if has(name): os.unlink(f'{folder}/{name}')
def answer(reply, make):
    if has('silent'): kept.append((reply, make))
    else: reply(*make())
def paths(found): return dbus.Array([dbus.ObjectPath(p) for p in found], signature='o')
class Prompt(dbus.service.Object):
    @dbus.service.method(PROMPT, in_signature='s')
    def Prompt(self, window):
        open(f'{folder}/asked', 'w').close()
        self.finish()
    def finish(self):
        how = word('prompts')
        if how == 'asked': GLib.timeout_add(20, self.finish); return False
        if how != 'dismissed': drop('locked')
        self.Completed(how == 'dismissed', dbus.Array([], signature='o', variant_level=1))
        return False
    @dbus.service.method(PROMPT)
    def Dismiss(self): self.Completed(True, dbus.Array([], signature='o', variant_level=1))
    @dbus.service.signal(PROMPT, signature='bv')
    def Completed(self, dismissed, result): pass
class Item(dbus.service.Object):
    def __init__(self, path, attributes, secret):
        super().__init__(bus, path)
        self.attributes, self.secret = attributes, secret
    @dbus.service.method(ITEM, in_signature='o', out_signature='(oayays)', async_callbacks=('reply', 'error'))
    def GetSecret(self, session, reply, error):
        answer(reply, lambda: [dbus.Struct((session, dbus.ByteArray(b''), self.secret, 'text/plain'), signature='oayays')])
class Collection(dbus.service.Object):
    @dbus.service.method(COLLECTION, in_signature='a{sv}(oayays)b', out_signature='oo')
    def CreateItem(self, properties, secret, replace):
        path = f'{collection}/{len(items) + 1}'
        items[path] = Item(path, properties['org.freedesktop.Secret.Item.Attributes'], dbus.ByteArray(bytes(secret[2])))
        return path, '/'
    @dbus.service.method(PROPERTIES, in_signature='ss', out_signature='v')
    def Get(self, interface, name): return dbus.Boolean(has('locked'), variant_level=1)
class Service(dbus.service.Object):
    prompts = 0
    @dbus.service.method(SERVICE, in_signature='sv', out_signature='vo')
    def OpenSession(self, kind, argument): return dbus.String('', variant_level=1), '/org/freedesktop/secrets/session/s'
    @dbus.service.method(SERVICE, in_signature='s', out_signature='o', async_callbacks=('reply', 'error'))
    def ReadAlias(self, name, reply, error): answer(reply, lambda: ['/' if has('empty') else collection])
    @dbus.service.method(SERVICE, in_signature='a{ss}', out_signature='aoao', async_callbacks=('reply', 'error'))
    def SearchItems(self, wanted, reply, error):
        def found():
            seen = [] if has('empty') else [p for p, i in items.items() if wanted.items() <= i.attributes.items()]
            return [paths([]), paths(seen)] if has('locked') else [paths(seen), paths([])]
        answer(reply, found)
    @dbus.service.method(SERVICE, in_signature='ao', out_signature='aoo')
    def Unlock(self, objects):
        if not has('locked'): return objects, '/'
        if not has('prompts'): return paths([]), '/'
        Service.prompts += 1
        path = f'{root}/prompt/p{Service.prompts}'
        Prompt(bus, path)
        return paths([]), path
    @dbus.service.signal(SERVICE, signature='o')
    def CollectionChanged(self, path): pass
DBusGMainLoop(set_as_default=True)
bus = dbus.SessionBus()
service, _ = Service(bus, root), Collection(bus, collection)
name = dbus.service.BusName('org.freedesktop.secrets', bus)
before = None
def look():
    global before, kept
    now = [has(n) for n in ('silent', 'locked', 'empty')]
    if before is not None and now != before:
        if not has('silent'):
            for reply, make in kept: reply(*make())
            kept = []
        service.CollectionChanged(collection)
    before = now
    return True
look()
GLib.timeout_add(20, look)
GLib.MainLoop().run()
