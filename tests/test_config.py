"""Settings: what comes before what, what cannot be one, and a file that keeps its comments."""

import os
import re
import tomllib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sciretrieve.base.errors import InvalidRequest, UnknownName
from sciretrieve.config import SETTINGS, cache_directory, check, config_file, parsed, setting, with_setting
from sciretrieve.encoders.encoder_cache import models_directory


@pytest.fixture
def file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The config file of one test, which is not there yet."""
    path = tmp_path / "config.toml"
    monkeypatch.setenv("SCIRETRIEVE_CONFIG", str(path))
    return path


def test_an_environment_variable_comes_before_the_file_and_that_before_the_default(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert (setting("k").value, setting("k").origin) == (10, "default")
    file.write_text("# mine\nk = 5\n")
    assert (setting("k").value, setting("k").origin, setting("k").place) == (5, "file", f"{file}, line 2")
    monkeypatch.setenv("SCIRETRIEVE_K", "7")
    assert (setting("k").value, setting("k").origin, setting("k").place) == (7, "environment", "$SCIRETRIEVE_K")
    monkeypatch.setenv("SCIRETRIEVE_K", "")  # is none
    assert setting("k").value == 5


def test_the_file_is_in_the_users_config_directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCIRETRIEVE_CONFIG")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    if os.name == "posix" and os.uname().sysname == "Linux":
        assert config_file() == tmp_path / "sciretrieve" / "config.toml"
    assert config_file().parts[-2:] == ("sciretrieve", "config.toml")


def test_folders_of_the_cache_and_of_models_are_settings(file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SCIRETRIEVE_CACHE")
    file.write_text(f'cache = "{tmp_path}/mine"\n')
    assert cache_directory() == tmp_path / "mine"
    assert models_directory() == tmp_path / "mine" / "models"
    monkeypatch.setenv("SCIRETRIEVE_MODELS", "weights")
    assert models_directory() == Path("weights")


def test_folders_may_begin_at_home_and_stand_on_several_lines(file: Path) -> None:
    file.write_text('indexes = [\n  "~/one",  # of the group\n  "/two",\n]\nk = 3\n')
    assert setting("indexes").value == (str(Path("~/one").expanduser()), "/two")
    assert setting("k").place.endswith("line 5")


def test_folders_of_a_variable_are_separated_as_in_paths(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SCIRETRIEVE_INDEXES", f"/one{os.pathsep}two")
    assert setting("indexes").value == ("/one", "two")


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("k = 3\nkk = 4\n", 2, "unknown setting 'kk'; did you mean 'k'?"),
        ("\n\nk = 0\n", 3, "k is a whole number from 1, not 0"),
        ("k = true\n", 1, "k is a whole number from 1, not true"),
        ('k = "5"\n', 1, 'k is a whole number from 1, not "5"'),
        ('# x\nformat = "tabel"\n', 2, "unknown format 'tabel'; did you mean 'table'?"),
        ("encoder = 3\n", 1, "encoder is a text, not 3"),
        ('encoder = ""\n', 1, 'encoder is a text, not ""'),
        ('indexes = "/one"\n', 1, 'indexes is a list of folders, not "/one"'),
        ('indexes = [\n"/a",\n"b"]\n', 1, "write the whole path of b, from / or ~"),
        ('index = "indexes/acm"\n', 1, "write the whole path of indexes/acm"),
        ('cache = "~nobody-of-that-name/x"\n', 1, "write the whole path"),
        ("k = 3\n[search]\nk = 4\n", 2, "unknown setting 'search'"),
        ("k = 3\nformat = table\n", 2, "invalid value"),
        ("k = 3\nk = 4\n", 2, "cannot overwrite a value"),
        ('k = 3\nindexes = ["/a"\n', 2, "unclosed array"),
        ("encoder", 1, "expected '=' after a key"),
        ("k = 1979-05-27\n", 1, "k is a whole number from 1"),
    ],
)
def test_a_bad_file_is_named_with_its_line(file: Path, text: str, line: int, reason: str) -> None:
    file.write_text(text)
    with pytest.raises(InvalidRequest) as caught:
        setting("k")
    assert str(caught.value).startswith(f"{file}, line {line}: ")
    assert reason in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_file_in_another_encoding_is_named_with_its_line(file: Path) -> None:
    file.write_bytes(b"k = 3\n# M\xfcller\n")
    with pytest.raises(InvalidRequest, match="line 2: the file is not in UTF-8"):
        setting("k")


@pytest.mark.parametrize(("name", "text"), [("K", "many"), ("K", "0"), ("FORMAT", "xml"), ("INDEX", "a\nb")])
def test_a_bad_variable_is_named(monkeypatch: pytest.MonkeyPatch, name: str, text: str) -> None:
    monkeypatch.setenv(f"SCIRETRIEVE_{name}", text)
    with pytest.raises(InvalidRequest, match=rf"^\$SCIRETRIEVE_{name}: "):
        setting(name.lower())


def test_what_is_typed_becomes_a_value() -> None:
    assert parsed("k", ["25"]) == 25
    assert parsed("indexes", ["/one", "two"]) == ("/one", str(Path("two").absolute()))
    with pytest.raises(UnknownName, match="did you mean 'index' or 'indexes'"):
        parsed("indx", ["acm"])
    with pytest.raises(InvalidRequest, match="k takes one value, not 2"):
        parsed("k", ["1", "2"])


def test_a_change_leaves_all_else_as_it_is() -> None:
    text = '# mine\r\nk = 3  # few\r\n\r\nindexes = [\r\n  "/one",\r\n  "/two",\r\n]\r\n# the end'
    assert with_setting(text, "indexes", ("/three",)) == '# mine\r\nk = 3  # few\r\n\r\nindexes = ["/three"]\n# the end'
    assert with_setting(text, "k", None) == text.replace("k = 3  # few\r\n", "")
    assert with_setting(text, "encoder", "specter2") == text + '\nencoder = "specter2"\n'
    assert with_setting("", "k", 3) == "k = 3\n"


names = st.text(st.characters(exclude_categories=["C", "Z"]), min_size=1).filter(str.isprintable)


@given(st.dictionaries(st.sampled_from(["index", "encoder"]), names.filter(lambda name: "/" not in name)), st.lists(names), names)
def test_what_is_written_is_read_again(texts: dict[str, str], folders: list[str], last: str) -> None:
    """By tomllib, too, whatever the texts are."""
    expected: dict[str, object] = {**texts, "indexes": tuple(str(Path(f"/{folder}")) for folder in folders), "encoder": last}
    text = "# a comment\n"
    for key, value in [*texts.items(), ("indexes", expected["indexes"]), ("k", 3), ("encoder", last), ("k", None)]:
        text = with_setting(text, key, value)  # type: ignore[arg-type]
    assert {key: value for key, (value, _) in check(text, Path("config.toml")).items()} == expected
    assert tomllib.loads(text) == {**expected, "indexes": list(expected["indexes"])}  # type: ignore[call-overload]


def test_every_setting_has_a_default_that_can_be_written() -> None:
    for key in SETTINGS:
        value = setting(key).value
        if value not in (None, ()):
            assert check(with_setting("", key, value), Path("config.toml"))[key] == (value, 1)


def test_all_that_is_read_of_the_environment_is_documented() -> None:
    root = Path(__file__).parents[1]
    page = (root / "docs" / "configuration.md").read_text(encoding="utf-8")
    code = "".join(path.read_text(encoding="utf-8") for path in (root / "sciretrieve").rglob("*.py"))
    names = set(re.findall(r"environ(?:\.\w+\(|\[)\"([A-Z_]+)\"", code)) | {setting.variable for setting in SETTINGS.values()}
    assert {"SCIRETRIEVE_CONFIG", "OMP_NUM_THREADS", "SCIRETRIEVE_K"} <= names
    assert [name for name in sorted(names) if f"`{name}`" not in page] == []


def test_the_page_lists_every_setting_with_its_default() -> None:
    page = (Path(__file__).parents[1] / "docs" / "configuration.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `(\w+)` \| `(SCIRETRIEVE_\w+)` \| .* \| (.*) \|$", page, re.MULTILINE)
    assert [(key, variable) for key, variable, _ in rows] == [(key, SETTINGS[key].variable) for key in SETTINGS]
    defaults = {key: default.strip("`") for key, _, default in rows}
    assert {key: defaults[key] for key in ("encoder", "k", "format")} == {
        key: str(SETTINGS[key].default()) for key in ("encoder", "k", "format")
    }
    example = re.findall(r"```toml\n(.*?)```", page, re.DOTALL)[0]
    assert set(check(example, Path("config.toml"))) == {"index", "indexes", "k"}
