"""What of a run's files becomes rows of a table."""

import os
import pathlib
import struct
import unittest
from types import SimpleNamespace

from support import Case

from launch.experiments.events import read_scalars
from launch.experiments.extract import extract, require_wanted
from launch.experiments.files import ExperimentError

RUN = pathlib.Path(__file__).parent / "run"  # two updates of a training run, its last record torn


def rows_of(file, columns, each="", tags="", where=None):
    return SimpleNamespace(table="t", file=file, columns=columns, each=each, tags=tags, where=where or {})


def slow_crc32c(data):
    """Bit by bit, by the reversed Castagnoli polynomial."""
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = crc >> 1 ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def field(number, kind, data):
    size = bytes([len(data)]) if kind == 2 else b""
    return bytes([number << 3 | kind]) + size + data


def event(step, tag="", value=0.0, start=False):
    """A record of an event file, written as its format says."""
    body = field(1, 1, bytes(8)) + field(2, 0, bytes([step]))
    body += field(7, 2, field(1, 0, b"\1")) if start else field(
        5, 2, field(1, 2, field(1, 2, tag.encode()) + field(2, 5, struct.pack("<f", value))))
    length = struct.pack("<Q", len(body))
    return b"".join(part + struct.pack("<I", ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF)
                    for part in (length, body) for crc in [slow_crc32c(part)])


class Events(Case):
    def events(self, name, *records, age=0):
        folder = self.folder / "events"
        folder.mkdir(exist_ok=True)
        file = folder / f"events.out.tfevents.{name}"
        file.write_bytes(b"".join(records))
        os.utime(file, (1e9 - age, 1e9 - age))
        return folder

    def test_of_the_learner_are_read(self):
        curves = read_scalars(RUN / "events")
        self.assertEqual(len(curves), 46)
        self.assertEqual(curves["return/nasrnn"], {1: -0.24447840452194214, 2: -0.32336968183517456})
        self.assertTrue(all(set(points) <= {1, 2} for points in curves.values()))

    def test_become_rows_of_step_tag_and_value(self):
        self.events("1", event(3, "return/m", 0.5), event(3, "loss", 1))
        rows = rows_of("events", {"at": "step", "who": "tag", "r": "value"}, tags="return/")
        self.assertEqual(extract(rows, self.folder), [["3", "m", "0.5"]])

    def test_may_carry_what_other_curves_have_at_their_step(self):
        self.events("1", *(event(step, "return/m", 0.25 * step) for step in (1, 2, 3)),
                    *(event(step, "train/steps", 100 * step) for step in (1, 3)))
        rows = rows_of("events", {"steps": "@train/steps", "cpu": "@train/cpu", "r": "value"}, tags="return/")
        self.assertEqual(extract(rows, self.folder), [["100", "", "0.25"], ["", "", "0.5"], ["300", "", "0.75"]])
        with self.assertRaisesRegex(ExperimentError, "no 'steps'"):
            extract(rows_of("events", {"steps": "steps"}), self.folder)

    def test_that_a_resume_rolled_back_are_gone(self):
        old = [event(step, tag, step) for step in (1, 2, 3, 4) for tag in ("a", "b")]
        self.events("2", *old, age=60)
        folder = self.events("1", event(3, start=True), event(4, "a", 40))
        self.assertEqual(read_scalars(folder), {"a": {1: 1, 2: 2, 4: 40}, "b": {1: 1, 2: 2}})
        self.events("1", event(2, "a", 20))  # without a start its first step cuts off
        self.assertEqual(read_scalars(folder), {"a": {1: 1, 2: 20}, "b": {1: 1}})

    def test_may_be_torn_at_the_end_and_nowhere_else(self):
        whole = event(1, "a", 1) + event(2, "a", 2)
        for cut in range(len(event(1, "a", 1)), len(whole)):
            self.assertEqual(read_scalars(self.events("1", whole[:cut])), {"a": {1: 1}}, cut)
        for place in (0, 9, 13, len(whole) // 2 - 1, len(whole) - 1):
            damaged = bytearray(whole)
            damaged[place] ^= 1
            with self.subTest(place), self.assertRaisesRegex(ExperimentError, "tfevents.1: a record has a wrong checksum"):
                read_scalars(self.events("1", damaged))


class Files(Case):
    def test_a_column_may_be_the_same_text_in_every_row_of_any_file(self):
        (self.folder / "events").mkdir()
        (self.folder / "events/events.out.tfevents.1").write_bytes(event(3, "return/m", 0.5))
        (self.folder / "x.csv").write_text("a,b\n1,2\n")
        (self.folder / "x.json").write_text('[{"a": 1}]')
        for file, source, value in [("events", "step", "3"), ("x.csv", "b", "2"), ("x.json", "/a", "1")]:
            cells = extract(rows_of(file, {"round": "=first", "value": source}), self.folder)
            self.assertEqual([list(row) for row in cells], [["first", value]], file)

    def test_cells_of_json(self):
        (self.folder / "x.json").write_text('{"m": {"b": {"f": 1.0, "n": null, "l": [1, {"z": 1, "a": 2}], "t": true, '
                                            '"x/y": "s"}, "a": {"f": 0.123456789, "n": "", "l": [], "t": 7, "x/y": ""}}}')
        columns = {"key": "#key", "f": "/f", "n": "/n", "l": "/l", "t": "/t", "s": "/x~1y", "c": "/l:count"}
        self.assertEqual(extract(rows_of("x.json", columns, each="/m"), self.folder),
                         [["a", "0.123457", "", "[]", "7", "", "0"], ["b", "1", "", '[1,{"a":2,"z":1}]', "true", "s", "2"]])

    def test_what_is_not_there_is_named(self):
        (self.folder / "x.json").write_text('{"a": [1, "b"], "n": [4, 1, 2.5]}')
        for source, said in [("/b", "no '/b'"), ("/a:mean", "no number"), ("/a:sum", "reduction"), ("/a/7", "no '/a/7'")]:
            with self.assertRaisesRegex(ExperimentError, f"x.json: .*{said}"):
                extract(rows_of("x.json", {"c": source}), self.folder)
        for how, value in [("mean", "2.5"), ("max", "4"), ("min", "1"), ("last", "2.5"), ("count", "3")]:
            self.assertEqual(extract(rows_of("x.json", {"c": f"/n:{how}"}), self.folder), [[value]])
        (self.folder / "x.json").write_text('{"a": ')
        with self.assertRaisesRegex(ExperimentError, "x.json: is no JSON"):
            extract(rows_of("x.json", {"c": "/a"}), self.folder)
        with self.assertRaisesRegex(OSError, "y.json"):
            extract(rows_of("y.json", {"c": "/a"}), self.folder)

    def test_rows_may_be_of_some_items_of_a_list(self):
        (self.folder / "x.json").write_text('[{"kind": "a", "list": [1]}, {"kind": "b", "list": [2, 3]}]')
        rows = rows_of("x.json", {"value": ""}, each="/list", where={"/kind": ["b"]})
        self.assertEqual(extract(rows, self.folder), [["2"], ["3"]])
        rows.where = {"/kind": ["c"]}
        with self.assertRaisesRegex(ExperimentError, "none of its items"):
            extract(rows, self.folder)

    def test_each_value_that_is_wanted_is_of_some_item_of_some_file(self):
        one, other = self.folder / "one", self.folder / "other"
        for folder, text in (one, '[{"kind": "a"}, {"kind": "b"}]'), (other, '[{"kind": "c"}]'):
            folder.mkdir()
            (folder / "x.json").write_text(text)
        rows = rows_of("x.json", {}, where={"/kind": ["a", "c"]})
        require_wanted(rows, [one, other])
        with self.assertRaisesRegex(ExperimentError, "x.json: table 't' wants items with '/kind' = .'c'"):
            require_wanted(rows, [one])


if __name__ == "__main__":
    unittest.main()
