"""Packs a folder as a wheel, with the list of its files and their hashes: pack.py FOLDER DIST_INFO WHEEL

Equal folders give equal bytes. The wheel appears whole or not at all.
"""

import base64
import hashlib
import os
import pathlib
import sys
import zipfile

_TIME = (1980, 1, 1, 0, 0, 0)


def _entry(name, mode):
    entry = zipfile.ZipInfo(name, _TIME)
    entry.compress_type = zipfile.ZIP_DEFLATED
    entry.external_attr = (0o100000 | mode) << 16
    return entry


def main(folder, info, wheel):
    record = f"{pathlib.Path(info).relative_to(folder)}/RECORD"
    lines = []
    with zipfile.ZipFile(wheel + ".aside", "w") as archive:
        for path in sorted(each for each in pathlib.Path(folder).rglob("*") if each.is_file()):
            name, content = str(path.relative_to(folder)), path.read_bytes()
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(content)}\n")
            archive.writestr(_entry(name, 0o755 if os.access(path, os.X_OK) else 0o644), content)
        archive.writestr(_entry(record, 0o644), "".join(lines) + f"{record},,\n")
    os.replace(wheel + ".aside", wheel)
    print(f"{wheel}: {os.path.getsize(wheel) / 1e6:.1f} MB")


main(*sys.argv[1:])
