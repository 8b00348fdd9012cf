"""Files that appear when they are complete, or not at all."""

import errno
import os
import stat

import pytest

from labelrank._atomic import atomic_path


def written(path, text="new"):
    with atomic_path(path) as partial:
        partial.write_text(text)
        (partial.parent / "scratch").write_text("removed at the end")


def mode_of(path):
    return stat.S_IMODE(path.stat().st_mode)


def test_a_new_file_has_the_permissions_of_any_other(tmp_path):
    before = os.umask(0o027)
    try:
        written(tmp_path / "new.txt")
    finally:
        os.umask(before)
    assert mode_of(tmp_path / "new.txt") == 0o640
    assert (tmp_path / "new.txt").read_text() == "new"
    assert os.listdir(tmp_path) == ["new.txt"]


def test_the_file_that_a_link_leads_to_is_replaced(tmp_path):
    folder, link = tmp_path / "folder", tmp_path / "link.txt"
    folder.mkdir()
    (folder / "old.txt").write_text("old")
    (folder / "old.txt").chmod(0o604)
    link.symlink_to("folder/old.txt")
    written(link)
    assert link.is_symlink()
    assert (folder / "old.txt").read_text() == "new"
    assert mode_of(folder / "old.txt") == 0o604
    assert sorted(os.listdir(tmp_path)) == ["folder", "link.txt"]
    assert os.listdir(folder) == ["old.txt"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_nothing_is_left_of_a_file_that_is_not_completed(tmp_path, error):
    path = tmp_path / "old.txt"
    path.write_text("old")
    with pytest.raises(error), atomic_path(path) as partial:
        raise error(partial.write_text("ne"))
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["old.txt"]


def test_the_longest_name(tmp_path):
    written(tmp_path / ("ü" * 127))
    assert os.listdir(tmp_path) == ["ü" * 127]


def test_places_where_a_file_cannot_be(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for name, error, found in [
        ("no/new.txt", FileNotFoundError, f"there is no folder {tmp_path / 'no'}"),
        ("", IsADirectoryError, "it is a folder; add the name of a file"),
        ("pipe", OSError, "it is a device or a pipe, which a file cannot replace"),
    ]:
        with pytest.raises(error) as raised:
            written(tmp_path / name)
        assert str(raised.value) == f"cannot save {tmp_path / name}: {found}"
    assert os.listdir(tmp_path) == ["pipe"]


def test_a_full_disk(tmp_path):
    path = tmp_path / "new.txt"
    with pytest.raises(OSError) as raised, atomic_path(path):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
    assert str(raised.value) == f"cannot save {path}: no space left on device"


def test_an_error_about_another_file_stays(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"other.txt") as raised, atomic_path(tmp_path / "new.txt"):
        (tmp_path / "other.txt").read_text()
    assert raised.value.filename == str(tmp_path / "other.txt")


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no /proc")
def test_a_folder_that_cannot_be_written_to():
    with pytest.raises(OSError, match=r"^cannot save /proc/new.txt: [a-z ]+$"):
        written("/proc/new.txt")
