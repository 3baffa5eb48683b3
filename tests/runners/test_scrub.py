"""What is taken out of texts."""

from rlx.runners.scrub import Scrub


def test_secrets_and_paths_go_wherever_they_stand() -> None:
    scrub = Scrub(secrets=["sk-verysecret", None, "ab"], paths={"/var/rlx/work": "[work]", "/var/rlx": "[c]"})
    value = {"sk-verysecret": ["see /var/rlx/work/a", {"x": "/var/rlx/b", "n": 3}], "ab": "hf_abcdefgh1"}

    assert scrub.value(value) == {"[secret]": ["see [work]/a", {"x": "[c]/b", "n": 3}], "ab": "[token]"}


def test_without_anything_to_hide_texts_stay() -> None:
    assert Scrub().text("as it is") == "as it is"
