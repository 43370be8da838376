"""Scalar curves of TensorBoard event files, as the learner writes them (core/base/event_writer.h)."""

import struct

import crc32c

from .files import require


def read_scalars(folder):
    """{tag: {step: value}} of all files of a folder, in ascending steps. A torn last record is left out."""
    points, curves = {}, {}
    for file in sorted(folder.glob("events.out.tfevents.*"), key=lambda file: (file.stat().st_mtime_ns, file)):
        read, restarts = {}, []
        for event in map(dict, map(_fields, _records(file.read_bytes(), file))):
            step = event.get(2, 0)  # numbers of tensorflow's event.proto; 7: a restart, 5: a summary of values
            restarts += [step] * (7 in event)
            for value in [dict(_fields(field)) for _, field in _fields(event.get(5, b""))]:
                if 2 in value:
                    read[value[1].decode(), step] = struct.unpack("<f", value[2])[0]
        # What a resume rolled back is gone: older files end before the step that this one restarts at, or its first.
        cut = min(restarts or [step for _, step in read], default=float("inf"))
        points = {**{key: value for key, value in points.items() if key[1] < cut}, **read}
    for (tag, step), value in sorted(points.items()):
        curves.setdefault(tag, {})[step] = value
    return curves


def _records(data, path):
    # A TFRecord file is records of a length, its checksum, a body, its checksum.
    at = 0
    while at + 12 <= len(data):
        end = at + 12 + int.from_bytes(data[at:at + 8], "little")
        for part, check in (data[at:at + 8], data[at + 8:at + 12]), (data[at + 12:end], data[end:end + 4]):
            crc = crc32c.crc32c(part)
            masked = ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF
            whole = masked.to_bytes(4, "little").startswith(check)  # what is torn off says nothing
            require(whole, "a record has a wrong checksum", path, "the file is damaged: remove it")
        if end + 4 <= len(data):
            yield part
        at = end + 4


def _fields(message):
    # (number, value) of the fields of a protobuf message: integers, else bytes.
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        size, at = ({1: 8, 5: 4}[key & 7], at) if key & 7 in (1, 5) else _varint(message, at)
        end = at + size if key & 7 else at
        yield key >> 3, message[at:end] if key & 7 else size
        at = end


def _varint(message, at):
    end = next(i for i in range(at, len(message)) if message[i] < 128) + 1
    return sum((byte & 127) << 7 * i for i, byte in enumerate(message[at:end])), end
