"""Compose files of strangers: those that reach out of their containers are refused."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlx.sandboxes.docker.compose import LARGEST, danger, dangerous_file

PLAIN = """
services:
  main:
    build: {context: "${CONTEXT_DIR}"}
    image: ${MAIN_IMAGE_NAME}
    command: ["sh", "-c", "sleep infinity"]
    depends_on: {database: {condition: service_healthy}}
    volumes: ["${HOST_VERIFIER_LOGS_PATH}:${ENV_VERIFIER_LOGS_PATH}", "shared:/shared"]
  database:
    image: postgres:17
    environment: {POSTGRES_PASSWORD: example}
    healthcheck: {test: ["CMD", "pg_isready"]}
    networks: [inside]
    volumes: ["/var/lib/postgresql/data"]
networks: {inside: {internal: true}}
volumes: {shared: null}
"""


def test_a_usual_file_is_taken() -> None:
    assert danger(PLAIN) is None
    assert danger("") is None


@pytest.mark.parametrize(
    ("line", "what"),
    [
        ('volumes: ["/:/host"]', "volumes"),
        ('volumes: ["./:/here"]', "volumes"),
        ('volumes: ["~/.ssh:/keys"]', "volumes"),
        ('volumes: ["${HOME}:/home"]', "volumes"),
        ('volumes: ["${HOST_EVIL_LOGS_PATH}:/x"]', "volumes"),
        ("volumes: [{type: bind, source: /, target: /host}]", "volumes"),
        ("volumes: [{type: volume, source: x, target: /x, volume: {nocopy: true}}]", "volumes"),
        ("volumes: nothing", "volumes"),
        ("privileged: true", "privileged"),
        ("network_mode: host", "network_mode"),
        ("pid: host", "pid"),
        ("ipc: host", "ipc"),
        ("cap_add: [SYS_ADMIN]", "cap_add"),
        ("devices: [/dev/kvm]", "devices"),
        ("security_opt: [seccomp=unconfined]", "security_opt"),
        ("ports: ['8080:80']", "ports"),
        ("env_file: /etc/passwd", "env_file"),
        ("extends: {file: /x, service: y}", "extends"),
        ("secrets: [x]", "secrets"),
        ("configs: [x]", "configs"),
        ("cgroup_parent: /", "cgroup_parent"),
        ("userns_mode: host", "userns_mode"),
        ("runtime: other", "runtime"),
        ("build: /", "build"),
        ("build: ../..", "build"),
        ("build: https://example.org/x.git", "build"),
        ("build: {context: ., dockerfile: ../../x}", "build"),
        ("build: {context: ., ssh: default}", "build"),
        ("build: {context: ., additional_contexts: {x: /}}", "build"),
        ("deploy: {placement: {}}", "deploy"),
        ("logging: {driver: syslog}", "logging"),
        ("gpus: all", "gpus"),
        ("volumes_from: [other]", "volumes_from"),
        ("develop: {watch: []}", "develop"),
    ],
)
def test_what_reaches_out_of_a_container_is_named(line: str, what: str) -> None:
    assert danger(f"services:\n  main:\n    image: x\n    {line}\n") == f"services.main.{what}"


@pytest.mark.parametrize(
    "text",
    [
        "include: [/etc/compose.yaml]\n",
        "secrets: {x: {file: /etc/passwd}}\n",
        "configs: {x: {file: /etc/passwd}}\n",
        "volumes: {x: {driver_opts: {type: none, o: bind, device: /}}}\n",
        "networks: {x: {driver: macvlan}}\n",
        "services: [x]\n",
        "services: {main: text}\n",
        "services: {main: !!python/object/apply:os.system [id]}\n",
        "- a list\n",
        "{unclosed\n",
        "x" * (LARGEST + 1),
    ],
)
def test_what_is_outside_of_services_is_looked_at_too(text: str) -> None:
    assert danger(text) is not None


def test_every_file_of_a_task_is_looked_at(tmp_path: Path) -> None:
    (tmp_path / "environment").mkdir()
    (tmp_path / "environment/docker-compose.yaml").write_text(PLAIN)
    assert dangerous_file(tmp_path) is None
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests/docker-compose.yml").write_text("services: {main: {privileged: true}}\n")
    assert dangerous_file(tmp_path) == (Path("tests/docker-compose.yml"), "services.main.privileged")


@given(st.text(max_size=400))
def test_any_text_is_taken_or_named(text: str) -> None:
    found = danger(text)
    assert found is None or found
