"""Signatures of tags, as git is set up to make and to check them: OpenPGP, X.509 or ssh keys."""

from enum import StrEnum

from herorun.core.lazy_dataclass import dataclass
from herorun.system.git import Repository


class Signing(StrEnum):
    """How git is configured to sign new tags."""

    # tag.gpgSign, or tag.forceSignAnnotated: without a signature there is no tag
    DEMANDED = "demanded"
    OFFERED = "offered"  # a signing key is set, and signing is not disabled
    OFF = "off"


def signing_of(repository: Repository) -> Signing:
    """By the user's settings."""
    settings = {key: _truth(repository, key) for key in ("tag.gpgSign", "tag.forceSignAnnotated")}
    if any(settings.values()):
        return Signing.DEMANDED
    if settings["tag.gpgSign"] is False or not repository.config("user.signingkey"):
        return Signing.OFF
    return Signing.OFFERED


def _truth(repository: Repository, key: str) -> bool | None:
    """The value of a boolean setting; None if it is not set."""
    answer = repository.git("config", "--type=bool", "--get", key, ok=(0, 1))
    return answer.text.strip() == "true" if answer.code == 0 else None


@dataclass(frozen=True)
class TagSignature:
    """The result of git's check of a tag's signature: good, bad, or not verifiable here."""

    good: bool | None
    detail: str


def signature_of(repository: Repository, tag: str) -> TagSignature:
    """Check a tag's signature by the keys that this machine trusts. Only for a tag with a
    signature.
    """
    answer = repository.git("verify-tag", "--raw", f"refs/tags/{tag}", ok=range(256))
    lines = [
        line.strip() for line in answer.err.decode("utf-8", "replace").splitlines() if line.strip()
    ]
    text = " ".join(lines)
    if answer.code == 0:
        return TagSignature(
            True, next((line for line in lines if "Good" in line), "") or _gpg(lines, "GOODSIG")
        )
    if "[GNUPG:] BADSIG" in text or "incorrect signature" in text:
        return TagSignature(False, _gpg(lines, "BADSIG") or lines[-1])
    return TagSignature(
        None, _gpg(lines, "NO_PUBKEY") or (lines[-1] if lines else f"exit code {answer.code}")
    )


def _gpg(lines: list[str], word: str) -> str:
    status_line = next((line for line in lines if line.startswith(f"[GNUPG:] {word}")), "")
    return status_line.removeprefix("[GNUPG:] ").strip()
