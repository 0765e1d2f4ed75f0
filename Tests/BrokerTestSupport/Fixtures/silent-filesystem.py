# A FUSE file system with one program, which answers nobody any more who looks something up once the program was read.
#
#   silent-filesystem.py FOLDER PROGRAM     needs root; ends, and the file system with it, by a signal
import ctypes, os, struct, sys
folder, program = sys.argv[1:3]
content = open(program, 'rb').read()
server = os.open('/dev/fuse', os.O_RDWR)
options = f'fd={server},rootmode=40000,user_id=0,group_id=0,allow_other'.encode()
if ctypes.CDLL(None).mount(b'silent', folder.encode(), b'fuse', 0, options) != 0:
    sys.exit('no FUSE here')
def attributes(node):
    mode, size = (0o40755, 0) if node == 1 else (0o100755, len(content))
    return struct.pack('<6Q10I', node, size, (size + 511) // 512, 0, 0, 0, 0, 0, 0, mode, 1, 0, 0, 0, 4096, 0)
was_read = False
print('mounted', flush=True)
while True:
    request = os.read(server, 1 << 20)
    length, opcode, unique, node = struct.unpack_from('<IIQQ', request)
    body, error = b'', 0
    if opcode == 26:  # INIT
        major, minor, ahead = struct.unpack_from('<III', request, 40)
        body = struct.pack('<IIIIHHIIHHI7I', 7, 31, ahead, 0, 12, 10, 4096, 1, 0, 0, 0, *[0] * 7)
    elif opcode in (1, 3) and was_read:  # LOOKUP, GETATTR: silent from now on
        continue
    elif opcode == 1:
        body = struct.pack('<QQQQII', 2, 0, 0, 3600, 0, 0) + attributes(2)
    elif opcode == 3:
        body = struct.pack('<QII', 3600, 0, 0) + attributes(node)
    elif opcode in (14, 27):  # OPEN
        body = struct.pack('<QII', 0, 2, 0)
    elif opcode == 15:  # READ
        was_read = True
        offset, count = struct.unpack_from('<QI', request, 48)
        body = content[offset:offset + count]
    elif opcode in (2, 42):  # FORGET
        continue
    elif opcode not in (18, 25, 29):
        error = -38
    os.write(server, struct.pack('<IiQ', 16 + len(body), error, unique) + body)
