from html.parser import HTMLParser

from hypothesis import given
from hypothesis import strategies as st

from autotune.report.markup import Markup, element, join


class Reader(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self):
        super().__init__()
        self.tags, self.texts, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.texts.append(data)


@given(st.text(st.characters(exclude_categories=["Cc", "Cf", "Cs", "Zl", "Zp"]), max_size=80))
def test_any_text_stays_text(text):
    reader = Reader()
    reader.feed(element("p", text, title=text))
    reader.close()
    assert reader.tags == ["p"]
    assert "".join(reader.texts) == text
    assert reader.attributes == [("title", text)]


def test_markup_is_not_escaped_again():
    assert element("p", element("b", "x & y"), Markup("<i>z</i>")) == "<p><b>x &amp; y</b><i>z</i></p>"


def test_attributes_are_named_as_html_names_them():
    shown = element(
        "td", class_="number", data_key=3, hidden=True, aria_label="a", tabindex=None, title=False
    )
    assert shown == '<td class="number" data-key="3" hidden aria-label="a"></td>'


def test_coordinates_keep_two_digits():
    assert element("circle", cx=1.23456, r=2.0) == '<circle cx="1.23" r="2"/>'


def test_nothing_is_joined_as_nothing():
    assert join(None, "a", None, 1, 2.5) == "a12.5"
