"""Made secrets of every kind that a hero run may meet, drawn again each time: none of them was ever
valid.
"""

import base64
import json
import random
import shlex
import string
from collections.abc import Callable
from urllib.parse import quote

ALNUM = string.ascii_letters + string.digits
UPPER = string.ascii_uppercase + string.digits
LOWER = string.ascii_lowercase + string.digits
HEX = "0123456789abcdef"
URLSAFE = ALNUM + "-_"
BASE64 = ALNUM + "+/"
PRINTABLE = ALNUM + "!#$%*+-./:<=>?@^_|~"

Draw = random.Random
Kind = Callable[[Draw], str]


def chars(draw: Draw, alphabet: str, least: int, most: int = 0) -> str:
    return "".join(draw.choices(alphabet, k=draw.randint(least, most or least)))


def _b64(text: str, urlsafe: bool = False, is_padded: bool = True) -> str:
    code = base64.urlsafe_b64encode if urlsafe else base64.b64encode
    encoded_text = code(text.encode()).decode()
    return encoded_text if is_padded else encoded_text.rstrip("=")


def _jwt(draw: Draw) -> str:
    head = _b64(
        json.dumps({"alg": draw.choice(["HS256", "RS256", "ES384"]), "typ": "JWT"}), True, False
    )
    body = _b64(
        json.dumps({"sub": chars(draw, ALNUM, 8), "iat": draw.randint(1, 1 << 31)}), True, False
    )
    return f"{head}.{body}.{chars(draw, URLSAFE, 43, 342)}"


def pem(draw: Draw, newline: str = "\n") -> str:
    kind = draw.choice(["", "RSA ", "EC ", "DSA ", "OPENSSH ", "ENCRYPTED "])
    rows = [chars(draw, BASE64, 64) for _ in range(draw.randint(2, 24))]
    return newline.join(
        [f"-----BEGIN {kind}PRIVATE KEY-----", *rows, f"-----END {kind}PRIVATE KEY-----"]
    )


# A secret that says by its own shape what it is, wherever it stands.
SECRET_SHAPES: dict[str, Kind] = {
    "wandb_v1": lambda d: f"wandb_v1_{chars(d, ALNUM + '_', 60, 90)}",
    "huggingface": lambda d: f"{d.choice(['hf_', 'api_org_'])}{chars(d, ALNUM, 34)}",
    "huggingface-signed": lambda d: f"hf_{d.choice(['jwt', 'oauth'])}_{_jwt(d)}",
    "github": lambda d: f"gh{d.choice('pousr')}_{chars(d, ALNUM, 36)}",
    "github-long": lambda d: f"ghs_{d.randint(1, 999999)}_{_jwt(d)}",
    "github-pat": lambda d: f"github_pat_{chars(d, ALNUM, 22)}_{chars(d, ALNUM, 59)}",
    "github-runner": lambda d: f"ghr_{chars(d, ALNUM, 76)}",
    "gitlab": lambda d: (
        f"{d.choice(['glpat', 'gldt', 'glrt', 'glptt', 'gloas', 'glsoat'])}-{chars(d, URLSAFE, 20)}"
    ),
    "gcp-key": lambda d: f"AIza{chars(d, URLSAFE, 35)}",
    "gcp-oauth": lambda d: f"ya29.{d.choice(['', 'c.', 'a0'])}{chars(d, URLSAFE, 60, 200)}",
    "gcp-client": lambda d: f"GOCSPX-{chars(d, URLSAFE, 28)}",
    "gcp-refresh": lambda d: f"1//0{chars(d, URLSAFE, 60, 100)}",
    "gcp-gemini": lambda d: f"AQ.Ab8RN6{chars(d, URLSAFE, 44)}",
    "gcp-hmac": lambda d: f"GOOG1{chars(d, UPPER, 56)}",
    "aws-session": lambda d: (
        f"{d.choice(['IQoJb3JpZ2luX2Vj', 'FwoGZXIvYXdzE', 'FQoGZXIvYXdzE'])}{chars(d, BASE64, 300, 700)}"  # noqa: E501  # one made value
    ),
    "aws-id": lambda d: (
        f"{d.choice(['AKIA', 'ASIA', 'ABIA', 'ACCA'])}{chars(d, string.ascii_uppercase + '234567', 16)}"  # noqa: E501  # one made value
    ),
    "aws-bedrock": lambda d: f"ABSK{chars(d, BASE64, 109, 128)}",
    "azure-ad": lambda d: (
        f"{chars(d, ALNUM, 3)}{d.randint(0, 9)}Q~{chars(d, ALNUM + '~_.-', 31, 34)}"
    ),
    "slack": lambda d: (
        f"xox{d.choice('abeoprs')}-{d.randint(10**10, 10**12)}-{d.randint(10**10, 10**12)}-{chars(d, ALNUM, 24)}"  # noqa: E501  # one made value
    ),
    "slack-cookie": lambda d: f"xoxd-{quote(chars(d, BASE64, 60), safe='')}",
    "slack-app": lambda d: (
        f"xapp-1-A{chars(d, UPPER, 10)}-{d.randint(10**12, 10**13 - 1)}-{chars(d, LOWER, 64)}"
    ),
    "slack-config": lambda d: f"xoxe.xoxp-1-{chars(d, ALNUM, 146)}",
    "openai": lambda d: f"sk-{chars(d, ALNUM, 20)}T3BlbkFJ{chars(d, ALNUM, 20)}",
    "openai-project": lambda d: (
        f"sk-{d.choice(['proj', 'svcacct', 'admin', 'None'])}-{chars(d, URLSAFE, 58, 74)}T3BlbkFJ{chars(d, URLSAFE, 58, 74)}"  # noqa: E501  # one made value
    ),
    "openai-session": lambda d: f"sess-{chars(d, ALNUM, 39)}A",
    "fireworks": lambda d: f"fw_{chars(d, ALNUM, 22)}1aA",
    "anthropic": lambda d: (
        f"sk-ant-{d.choice(['api03', 'admin01', 'oat01'])}-{chars(d, URLSAFE, 93)}AA"
    ),
    "openrouter": lambda d: f"sk-or-v1-{chars(d, HEX, 64)}",
    "groq": lambda d: f"gsk_{chars(d, ALNUM, 52)}",
    "xai": lambda d: f"xai-{chars(d, ALNUM, 80)}",
    "replicate": lambda d: f"r8_{chars(d, ALNUM, 37)}",
    "nvidia": lambda d: f"nvapi-{chars(d, URLSAFE, 64)}",
    "docker": lambda d: f"dckr_{d.choice(['pat', 'oat'])}_{chars(d, URLSAFE, 27, 32)}",
    "npm": lambda d: f"npm_{chars(d, ALNUM, 36)}",
    "pypi": lambda d: (
        f"pypi-{d.choice(['AgEIcHlwaS5vcmc', 'AgENdGVzdC5weXBpLm9yZw'])}{chars(d, URLSAFE, 70, 180)}"  # noqa: E501  # one made value
    ),
    "jwt": _jwt,
    "jwe": lambda d: (
        f"{_b64(json.dumps({'alg': 'dir', 'enc': 'A256GCM'}), True, False)}..{chars(d, URLSAFE, 16)}.{chars(d, URLSAFE, 43)}.{chars(d, URLSAFE, 22)}"  # noqa: E501  # one made value
    ),
    "stripe": lambda d: (
        f"{d.choice(['sk', 'rk'])}_{d.choice(['live', 'test'])}_{chars(d, ALNUM, 24, 99)}"
    ),
    "sendgrid": lambda d: f"SG.{chars(d, URLSAFE, 22)}.{chars(d, URLSAFE, 43)}",
    "databricks": lambda d: f"dapi{chars(d, HEX, 32)}{d.choice(['', '-2'])}",
    "digitalocean": lambda d: f"do{d.choice('opr')}_v1_{chars(d, HEX, 64)}",
    "grafana": lambda d: f"glsa_{chars(d, ALNUM, 32)}_{chars(d, HEX, 8)}",
    "vault": lambda d: f"hv{d.choice('sb')}.{chars(d, URLSAFE, 90, 140)}",
    "tailscale": lambda d: (
        f"tskey-{d.choice(['auth', 'api'])}-k{chars(d, ALNUM, 10)}-{chars(d, ALNUM, 32)}"
    ),
    "linear": lambda d: f"lin_api_{chars(d, ALNUM, 40)}",
    "pulumi": lambda d: f"pul-{chars(d, HEX, 40)}",
    "prefect": lambda d: f"pnu_{chars(d, LOWER, 36)}",
    "planetscale": lambda d: f"pscale_tkn_{chars(d, URLSAFE, 32, 60)}",
    "age": lambda d: f"AGE-SECRET-KEY-1{chars(d, 'QPZRY9X8GF2TVDW0S3JN54KHCE6MUA7L', 58)}",
    "shopify": lambda d: f"shp{d.choice(['at', 'ca', 'pa', 'ss'])}_{chars(d, HEX, 32)}",
    "perplexity": lambda d: f"pplx-{chars(d, ALNUM, 48)}",
    "langsmith": lambda d: f"lsv2_{d.choice(['pt', 'sk'])}_{chars(d, HEX, 32)}_{chars(d, HEX, 10)}",
    "sentry": lambda d: f"sntry{d.choice('us')}_{chars(d, ALNUM, 60, 100)}",
    "pem": pem,
    "pem-cut": lambda d: pem(d).partition("\n")[2],
    "pem-ssh2": lambda d: (
        f"---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----\n{chars(d, BASE64, 64)}\n---- END SSH2 "
        "ENCRYPTED PRIVATE KEY ----"
    ),
    "pem-escaped": lambda d: pem(d, "\\n"),
    "pem-escaped-twice": lambda d: pem(d, "\\\\n"),
}

# A secret that only its place tells: the text around it, with `{}` where it stands.
_FREE = {
    "hex40": lambda d: chars(d, HEX, 40),
    "hex32": lambda d: chars(d, HEX, 32),
    "alnum": lambda d: chars(d, ALNUM, 8, 44),
    "base64": lambda d: chars(d, BASE64, 40) + d.choice(["", "=", "=="]),
    "aws-secret": lambda d: chars(d, BASE64, 40),
    "urlsafe": lambda d: chars(d, ALNUM, 1) + chars(d, URLSAFE, 9, 40),
    "webhook": lambda d: chars(d, ALNUM, 24, 68),
    "signature": lambda d: quote(chars(d, BASE64, 43) + "=", safe=""),
}

PLACES: dict[str, tuple[str, str]] = {
    "wandb-env": ("hex40", "export WANDB_API_KEY={}"),
    "wandb-login": ("hex40", "wandb login {}"),
    "wandb-relogin": ("hex40", "wandb login --relogin --host https://api.wandb.ai {}"),
    "wandb-call": ("hex40", 'wandb.login(key="{}")'),
    "wandb-words": ("hex40", "wandb: Paste an API key from your profile and hit enter: {}"),
    "wandb-setting": ("hex40", "Settings(api_key={}, base_url=https://api.wandb.ai)"),
    "wandb-pair": ("hex40", "WANDB_API_KEY {}"),
    "wandb-local": ("hex40", "api_key: local-{}"),
    "aws-secret": ("aws-secret", "aws_secret_access_key = {}"),
    "aws-secret-json": ("aws-secret", '{{"AccessKeyId": "A", "SecretAccessKey": "{}"}}'),
    "aws-both": ("aws-secret", "credentials AKIAABCDEFGHIJKLMNOP / {}"),
    "aws-session": ("base64", "AWS_SESSION_TOKEN={}"),
    "aws-configure": ("aws-secret", "aws configure set aws_secret_access_key {}"),
    "azure-connection": (
        "base64",
        "DefaultEndpointsProtocol=https;AccountName=a;AccountKey={};EndpointSuffix=core.windows.net",
    ),
    "azure-shared": ("base64", "Endpoint=sb://h/;SharedAccessKeyName=n;SharedAccessKey={}"),
    "azure-sas": (
        "signature",
        "https://a.blob.core.windows.net/c/o?sv=2024-01-01&se=2026-01-01&sig={}",
    ),
    "gcp-private": (
        "alnum",
        '{{"type": "service_account", "private_key_id": "{}", "client_id": "1"}}',
    ),
    "gcp-signed": ("hex40", "https://storage.googleapis.com/b/o?X-Goog-Date=1&X-Goog-Signature={}"),
    "aws-signed": (
        "hex40",
        "https://b.s3.amazonaws.com/o?X-Amz-Credential=A%2F1&X-Amz-Signature={}",
    ),
    "slack-hook": ("webhook", "https://hooks.slack.com/services/T0AB12CD3/B0EF45GH6/{}"),
    "slack-hook-json": (
        "webhook",
        '{{"url":"https:\\/\\/hooks.slack.com\\/services\\/T0A\\/B0B\\/{}"}}',
    ),
    "discord-hook": ("webhook", "https://discord.com/api/webhooks/1134567890123456789/{}"),
    "discord-hook-old": (
        "webhook",
        "https://canary.discordapp.com/api/v10/webhooks/113456789012/{}",
    ),
    "teams-hook": (
        "hex32",
        "https://contoso.webhook.office.com/webhookb2/a@b/IncomingWebhook/{}/c",
    ),
    "teams-flow": (
        "signature",
        "https://prod-1.westus.logic.azure.com:443/workflows/a/triggers/manual/paths/invoke?sp=%2F&sv=1.0&sig={}",
    ),
    "telegram": ("alnum", "https://api.telegram.org/bot123456789:AA{}/sendMessage"),
    "apprise-slack": ("webhook", "slack://TokenA/TokenB/{}/#channel"),
    "apprise-telegram": ("webhook", "tgram://123456789:{}/chat"),
    "apprise-discord": ("webhook", "discord://1134567890123456789/{}"),
    "ngc": ("alnum", "NGC_API_KEY={}"),
    "docker-auth": ("base64", '{{"auths": {{"nvcr.io": {{"auth": "{}"}}}}}}'),
    "docker-login": ("alnum", "docker login -u me -p {} nvcr.io"),
    "npmrc": ("alnum", "//registry.example.org/:_authToken={}"),
    "pip-url": ("alnum", "--index-url https://__token__:{}@pypi.example.org/simple"),
    "userinfo": ("alnum", "https://ada:{}@host.example.org/x.git"),
    "userinfo-alone": ("alnum", "https://{}@github.com/a/b.git"),
    "userinfo-json": ("alnum", '{{"remote": "https:\\/\\/ada:{}@host\\/x.git"}}'),
    "userinfo-numbered": ("alnum", '{{"remote": "https:\\u002F\\u002Fada:{}@host\\u002Fx.git"}}'),
    "proxy": ("urlsafe", "http_proxy=ada:x1y2{}@proxy.example.org:3128"),
    "database": ("alnum", "postgresql+psycopg://ada:{}@db:5432/runs"),
    "redis": ("alnum", "redis://:{}@cache:6379/0"),
    "flag": ("alnum", "train.py --x-token={} --seed 7"),
    "flag-apart": ("alnum", "train.py --wandb-api-key {} --seed 7"),
    "flag-bearer": ("alnum", "train.py --bearer={} --seed 7"),
    "flag-pat": ("hex40", "train.py --pat={} --seed 7"),
    "flag-quoted": ("alnum", "train.py --db.password '{}' --seed 7"),
    "argv": ("alnum", "['train.py', '--hf-token', '{}', '--seed', '7']"),
    "argv-json": ("alnum", '["train.py","--hf-token","{}","--seed","7"]'),
    "hydra": ("alnum", "+trainer.wandb.api_key={} trainer.steps=7"),
    "pair": ("hex40", "SERVICE_TOKEN {} set"),
    "pair-arrow": ("hex40", "SERVICE_TOKEN -> {} set"),
    "pair-long-arrow": ("hex40", "SERVICE_TOKEN ==> {} set"),
    "pair-is": ("hex40", "SERVICE_TOKEN is {} here"),
    "pair-table": ("hex40", "| SERVICE_TOKEN | {} |"),
    "pair-listed": ("alnum", '{{"name": "SERVICE_TOKEN", "value": "{}"}}'),
    "pair-listed-yaml": ("alnum", "- name: SERVICE_TOKEN\n  value: {}\n"),
    "dockerfile": ("hex32", "ENV HF_TOKEN {}"),
    "yaml": ("alnum", "  password: {}"),
    "yaml-tag": ("alnum", "  password: !!str {}"),
    "yaml-quoted": ("alnum", '  client_secret: "{}"'),
    "ini": ("alnum", "passwd = {}"),
    "tuple": ("alnum", "('SECRET_TOKEN', '{}')"),
    "environ": ("alnum", "os.environ['MY_TOKEN'] = '{}'"),
    "headers": ("urlsafe", "{{'X-Api-Key': '{}', 'Accept': '*/*'}}"),
    "bearer": ("urlsafe", "Authorization: Bearer {}"),
    "bearer-json": ("urlsafe", '{{"Authorization": "Bearer {}"}}'),
    "bearer-escaped": ("urlsafe", '{{\\"Authorization\\": \\"Bearer {}\\"}}'),
    "token-header": ("urlsafe", "curl -H 'Authorization: token {}' https://api.example.org"),
    "private-token": ("urlsafe", "curl --header 'PRIVATE-TOKEN: {}' https://gitlab.example.org"),
    "cookie": ("urlsafe", "Cookie: session={}; theme=dark"),
    "set-cookie": ("urlsafe", "Set-Cookie: sid={}; Path=/"),
    "curl-user": ("alnum", "curl -u ada:{} https://h/"),
    "curl-user-long": ("alnum", "curl --user ada:{} https://h/"),
    "netrc": ("alnum", "machine api.wandb.ai login user password {}"),
    "netrc-lines": ("alnum", "machine h\n  login user\n  password {}\n"),
    "netrc-escaped": ("alnum", "machine h\\nlogin user\\npassword {}"),
    "netrc-quoted": ("alnum", 'machine h login user password "{} and more"'),
    "query": ("alnum", "https://h/x?a=1&access_token={}&b=2"),
    "json": ("alnum", '{{"api_key": "{}", "steps": 7}}'),
    "json-escaped": ("alnum", '{{\\"api_key\\": \\"{}\\", \\"steps\\": 7}}'),
    "json-twice": ("alnum", '"{{\\\\\\"password\\\\\\": \\\\\\"{}\\\\\\"}}"'),
    "python": ("alnum", "KeyError: token='{}'"),
    "spaced": ("alnum", "Password: {}"),
    "api-key-words": ("hex32", "invalid API key: {}"),
    "openai-words": ("hex32", "Incorrect API key provided: {}. You can find"),
    "sshpass": ("alnum", "sshpass -p {} ssh h"),
    "kube": ("base64", "  stringData:\n    token: {}\n"),
    "percent": ("alnum", "next=https%3A%2F%2Fh%2Fx%3Ftoken%3D{}%26b%3D2"),
    "percent-userinfo": ("alnum", "next=https%3A%2F%2Fada%3A{}%40h%2Fx"),
    "xml": ("alnum", "<password>{}</password>"),
}


def place_secret(kind: str, draw: Draw) -> tuple[str, str]:
    """A text and the secret in it."""
    form, text = PLACES[kind]
    secret = _FREE[form](draw)
    return text.format(secret), secret


# How a text with a secret may be written down again.
ENCODINGS: dict[str, Callable[[str], str]] = {
    "as it is": lambda text: text,
    "base64": _b64,
    "base64 unpadded": lambda text: _b64(text, is_padded=False),
    "base64 of a URL": lambda text: _b64(text, urlsafe=True),
    "base64 twice": lambda text: _b64(_b64(text)),
    "percent": lambda text: quote(text, safe=""),
    "json": lambda text: json.dumps({"said": text}),
    "json twice": lambda text: json.dumps(json.dumps({"said": text})),
    "shell": lambda text: f"echo {shlex.quote(text)} | cat",
    "python": lambda text: repr([text]),
    "hex": lambda text: text.encode().hex(),
    "coloured": lambda text: f"\x1b[1;31m{text}\x1b[0m",
    "coloured, as JSON writes it": lambda text: json.dumps(f"\x1b[1;31m{text}\x1b[0m"),
}
