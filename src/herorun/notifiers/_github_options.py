"""The options of a run's issue on GitHub."""

from typing import Annotated

from herorun.core.lazy_pydantic import Field
from herorun.core.ports import AdapterOptions
from herorun.core.trust import NeedsTrust

_REPO = r"^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?/[A-Za-z0-9._-]+$"


class Options(AdapterOptions):
    repo: str | None = Field(None, pattern=_REPO, description="owner/name.")
    number: int | None = Field(None, gt=0, description="The number of an existing issue.")
    recorded_issue: str | None = Field(
        None, exclude=True, description="The issue that the record names."
    )
    base_url: Annotated[str, NeedsTrust(("token",))] = Field(
        "https://api.github.com", description="https://HOST/api/v3 of a GitHub Enterprise server."
    )
    token: Annotated[str | None, NeedsTrust()] = Field(
        None,
        description=(
            "Name of the variable with the token; GITHUB_TOKEN or GH_TOKEN where none is named."
        ),
    )
    app_id: int | None = Field(None, description="Of a GitHub app, in place of a token.")
    app_key: Annotated[str | None, NeedsTrust()] = Field(
        None,
        description=(
            "Name of the variable with the app's private key, or with the path of its file."
        ),
    )
    installation: int | None = Field(
        None, description="Of the app; by default that of the repository."
    )
    login: str | None = Field(
        None, description="The login that herorun writes as, if the token may not read it."
    )
