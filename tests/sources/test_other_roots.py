"""The roots of the other contracts, as HEAD holds them."""

from builders import a_contract, a_tree
from herorun.core.contract import ContractFile
from herorun.core.evidence import OtherRoots
from herorun.sources.other_roots import read_other_roots
from stories import SLUG, Story


def read(story: Story) -> OtherRoots:
    repository = story.run.repository
    tree = a_tree(commit=str(repository.resolve("HEAD")))
    return read_other_roots(repository, a_contract(), ContractFile(f"runs/{SLUG}.toml", ""), tree)


def test_every_other_contract_is_read_and_nothing_else(story: Story) -> None:
    assert read(story) == OtherRoots()
    runs = story.work / "runs"
    (runs / "other.toml").write_text(
        '[output]\nroot = "/data/other"\ntemporary_root = "/scratch"\n'
    )
    (runs / "settings.toml").write_text("[output]\nroot = 7\n")
    (runs / "broken.toml").write_text("[output")
    (runs / "nested.toml").write_text("a = " + "[" * 20_000)
    (runs / "uncommitted.toml").write_text("")
    story.publish()
    (runs / "uncommitted.toml").write_text('[output]\nroot = "/data/uncommitted"\n')

    assert read(story) == OtherRoots({"other": ("/data/other", "/scratch")})


def test_a_link_is_followed_to_the_folder_that_it_names(story: Story) -> None:
    link = story.home / "link"
    link.symlink_to(story.data)
    (story.work / "runs" / "other.toml").write_text(
        f'[output]\nroot = "{link}/tiny/"\ntemporary_root = "gs://bucket/link"\n'
    )
    story.publish()
    assert read(story).real_paths == {f"{link}/tiny": f"{story.data.resolve()}/tiny"}

    assert story.init() == 0
    assert story.launch() == 1


def test_two_runs_with_one_temporary_root_are_kept_apart(story: Story) -> None:
    contract = (story.work / "runs" / f"{SLUG}.toml").read_text()
    other = contract.replace('"tiny"', '"other"').replace('/data/tiny"', '/data/other"')
    (story.work / "runs" / "other.toml").write_text(other)
    story.publish()

    assert story.init() == 0
    assert story.launch() == 1
