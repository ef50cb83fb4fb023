"""An emulated install is known by its marker, and a broken marker is no real install."""

import pytest

from autotune.engines.mindie.marker import read_marker
from autotune.errors import Refused


def test_a_real_install_has_none(tmp_path):
    assert read_marker(tmp_path) is None


def test_the_time_scale_is_read(tmp_path):
    (tmp_path / "EMULATED").write_text('{"time_scale": 20, "version": "3.0", "seed": 1}')
    marker = read_marker(tmp_path)
    assert (marker.time_scale, marker.version) == (20.0, "3.0")


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"time_scale": "fast"}', '{"time_scale": null}'])
def test_a_broken_marker_is_refused(tmp_path, text):
    (tmp_path / "EMULATED").write_text(text)
    with pytest.raises(Refused, match="marker"):
        read_marker(tmp_path)
