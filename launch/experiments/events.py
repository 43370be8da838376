"""Scalar curves of TensorBoard event files, as the learner writes them (core/base/tensorboard.h).

TensorBoard's own reader is not in Debian 12, needs gRPC and a web server, and ends in silence at a damaged record.
"""

import pathlib
import struct

import crc32c

from .files import ExperimentError


def read_scalars(folder):
    """{tag: {step: value}} of all files of a folder, in ascending steps. A torn last record is left out.

    What a resume rolled back is gone: the step that a younger file restarts at, or else its first one, cuts off that
    step and all later ones of older files.
    """
    curves = {}
    files = pathlib.Path(folder).glob("events.out.tfevents.*")
    for file in sorted(files, key=lambda file: (file.stat().st_mtime_ns, file)):
        scalars, restarts = [], []
        for event in map(_fields, _records(file.read_bytes(), file)):  # numbers: tensorflow's event and summary.proto
            step = dict(event).get(2, 0)
            restarts += [step for number, _ in event if number == 7]
            values = [dict(_fields(each)) for number, summary in event if number == 5 for _, each in _fields(summary)]
            scalars += [(step, each[1].decode(), struct.unpack("<f", each[2])[0]) for each in values if 2 in each]
        cut = min(restarts or [step for step, _, _ in scalars], default=float("inf"))
        curves = {tag: {step: value for step, value in points.items() if step < cut} for tag, points in curves.items()}
        for step, tag, value in scalars:
            curves.setdefault(tag, {})[step] = value
    return {tag: dict(sorted(points.items())) for tag, points in sorted(curves.items()) if points}


def _records(data, path):
    """Of a TFRecord file: length, its checksum, body, its checksum."""
    at = 0
    while at + 12 <= len(data):
        end = at + 12 + struct.unpack_from("<Q", data, at)[0]
        for body, check in ((data[at:at + 8], data[at + 8:at + 12]), (data[at + 12:end], data[end:end + 4])):
            crc = crc32c.crc32c(body)
            masked = (((crc >> 15) | (crc << 17)) + 0xA282EAD8) & 0xFFFFFFFF
            if len(check) == 4 and masked != int.from_bytes(check, "little"):
                raise ExperimentError("a record has a wrong checksum", path, "the file is damaged: remove it")
        at = end + 4
        if at <= len(data):
            yield body


def _fields(message):
    """(number, value) of the fields of a protobuf message: integers, else bytes."""
    fields, at = [], 0
    while at < len(message):
        key, at = _varint(message, at)
        if key & 7 == 0:
            value, at = _varint(message, at)
        else:
            size, at = ({1: 8, 5: 4}[key & 7], at) if key & 7 in (1, 5) else _varint(message, at)
            value, at = message[at:at + size], at + size
        fields.append((key >> 3, value))
    return fields


def _varint(message, at):
    value = shift = 0
    while True:
        value |= (message[at] & 127) << shift
        at, shift = at + 1, shift + 7
        if message[at - 1] < 128:
            return value, at
