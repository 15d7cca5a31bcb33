from pathlib import Path

import pytest

from weaklink_processor.config import Config, Thresholds
from weaklink_processor.errors import UsageError
from weaklink_processor.sources import env_name, load_config, settings

BAD_FILES = {
    "receiver: {grpc: {endpoint: localhost}}": "receiver.grpc.endpoint: 'localhost': expected HOST:PORT",
    "receiver: {grpc: {endpoint: '127.0.0.1:65536'}}": "receiver.grpc.endpoint: '127.0.0.1:65536': expected HOST:PORT",
    "receiver: {grpc: {endpoint: 4317}}": "receiver.grpc.endpoint: 4317: expected a valid string",
    "receiver: {grpc: {max_recv_msg_size_mib: lots}}": "max_recv_msg_size_mib: 'lots': expected a valid integer",
    "receiver: {grpc: {max_recv_msg_size_mib: 0}}": "max_recv_msg_size_mib: 0: expected greater than or equal to 1",
    "receiver: {http: {endpoint: ''}}": "receiver.http.endpoint: '': expected HOST:PORT",
    "receiver: {http: {max_request_body_size: 3 furlongs}}": "'3 furlongs': expected bytes",
    "receiver: {http: {max_request_body_size: -1}}": "max_request_body_size: -1: expected",
    "receiver: 4317": "receiver: 4317: expected a section of settings",
    "queue: {max_bytes: 0}": "queue.max_bytes: 0: expected greater than 0",
    "data_dir: ''": "data_dir: '': expected the path of a folder",
    "analysis: {quiet_period: 1 week}": "analysis.quiet_period: '1 week': expected seconds, or a dur",
    "analysis: {quiet_period: .inf}": "analysis.quiet_period: inf: expected a finite number",
    "analysis: {max_hops: 17}": "analysis.max_hops: 17: expected less than or equal to 16",
    "analysis: {max_hops: 0}": "analysis.max_hops: 0: expected greater than or equal to 1",
    "analysis: {min_threshold: 1.5}": "analysis.min_threshold: 1.5: expected less than or equal to 1",
    "analysis: {min_threshold: 0.7}": "flag_threshold (default): 0.6: expected at least analysis.min_threshold",
    "analysis: {clock_skew: -1}": "analysis.clock_skew: -1: expected greater than or equal to 0",
    "analysis: {threshold: .nan}": "analysis.threshold: nan: expected",
    "analysis: {publish_interval: 0}": "analysis.publish_interval: 0: expected greater than 0",
    "analysis: {namespaces: 5}": "analysis.namespaces: 5: expected a valid dictionary",
    "analysis: {namespaces: {/a: {min_threshold: 2}}}": "analysis.namespaces./a.min_threshold: 2: expected less than",
    "analysis: {namespaces: {/a: {minimum: 0.2}}}": "analysis.namespaces./a.minimum: 0.2: no such setting",
    "analysis: {namespaces: {/a: {min_threshold: 0.7}}}": "for namespace '/a' they are 0.7 and 0.6",
    "analysis: {namespaces: {/a: {min_threshold: 0.5}, /a/b: {flag_threshold: 0.45}}}": "'/a/b' they are 0.5 and 0.45",
    "analysis: {services: {s: {flag_threshold: high}}}": "analysis.services.s.flag_threshold: 'high': expected a valid",
    "analysis: {services: {s: {flag_threshold: 0.3}}}": "services: {'s': {'flag_threshold': 0.3}}: expected min_",
    "analysis: {services: {s: {flag_threshold: 0.41}}, namespaces: {/a: {min_threshold: 0.5}}}": (
        "for service 's' and namespace '/a' they are 0.5 and 0.41"
    ),
    "analysis: {confidence: {sources: {direct: 2}}}": "analysis.confidence.sources.direct: 2: expected less than",
    "analysis: {confidence: {types: {Own law: 1, own-law: 1}}}": "expected names, each once; capitals, blanks,",
    "analysis: {confidence: {extractors: {' ': 1}}}": "expected parts of models' names, each once",
    "analysis: {freshness: {half_lives: {event: 0}}}": "analysis.freshness.half_lives.event: 0: expected greater than",
    "analysis: {decisions: [{}]}": "analysis.decisions.0.attributes: {}: expected span_name, attributes, or both",
    "analysis: {decisions: [{name: a}]}": "analysis.decisions.0.name: 'a': no such setting",
    "analysis: {rubrics: [mai/9]}": "analysis.rubrics: ['mai/9']: rubric: no rubric is named 'mai/9'; known are mai-",
    "analysis: {rubrics: []}": "analysis.rubrics: []: expected names of rubrics, or rubrics, each once",
    "analysis: {rubrics: [memledger/2.0, memledger/2.0]}": "expected names of rubrics, or rubrics, each once",
    "analysis: {rubrics: [{name: own}]}": "own: weights: is missing",
    "analysis: {rubrics: [{name: own, weights: {cycle: 1}, low: 3}]}": "own: low: 3 must be a number from 0 to 1",
    "analysis: {max_hops: 3, rubrics: [{name: own, weights: {cycle: 1}, max_depth: 4}]}": "4 is more than max_hops (3)",
    "forward: {endpoint: 'ftp://there'}": "forward.endpoint: 'ftp://there': expected HOST:PORT, http://HOST:PORT or",
    "forward: {endpoint: 'there:0'}": "forward.endpoint: 'there:0': expected HOST:PORT",
    "forward: {headers: token}": "forward.headers: (not shown): expected name=value,name=value",
    "forward: {headers: {a: 5}}": "forward.headers.a: (not shown): expected a valid string",
    "receiver: {auth: {tokens: [a b]}}": "receiver.auth.tokens: (not shown): expected tokens of letters, digits and",
    "receiver: {auth: {tokens: 5}}": "receiver.auth.tokens: (not shown): expected tokens of letters, digits and",
    "receiver: {auth: {users: [a]}}": "receiver.auth.users: (not shown): expected a valid dictionary",
    "receiver: {auth: {users: {a: ''}}}": "receiver.auth.users: (not shown): expected names without a colon, each with",
    "receiver: {auth: {users: {'a:b': c}}}": "receiver.auth.users: (not shown): expected names without a colon, each",
    "receiver: {auth: {token: secret}}": "receiver.auth.token: (not shown): no such setting; did you mean",
    "receiver: {grpc: {tls: {cert_file: /nowhere.pem}}}": "cert_file: '/nowhere.pem': expected the path of a file that",
    "receiver: {http: {tls: {key_file: pyproject.toml}}}": "expected tls.cert_file and tls.key_file together",
    "receiver: {http: {tls: {client_ca_file: pyproject.toml}}}": "expected tls.cert_file and tls.key_file too",
    "forward: {timeout: 0}": "forward.timeout: 0: expected greater than 0",
    "forward: {enrich: perhaps}": "forward.enrich: 'perhaps': expected a valid boolean",
    "forward: {compression: zip}": "forward.compression: 'zip': expected 'none' or 'gzip'",
    "forward: {tls: {ca_file: /nowhere.pem}}": "ca_file: '/nowhere.pem': expected the path of a file that exists",
    "forward: {tls: {cert_file: /dev/null}}": "cert_file: '/dev/null': expected the path of a file that exists",
    "forward: {tls: {insecure: perhaps}}": "forward.tls.insecure: 'perhaps': expected a valid boolean",
    "forward: {endpoint: 'https://a:1', tls: {insecure: true}}": "'https://a:1': expected a scheme that agrees with",
    "forward: {endpoint: 'http://a:1', tls: {insecure: false}}": "'http://a:1': expected a scheme that agrees with",
    "forward: {retry_on_failure: {initial_interval: 0}}": "initial_interval: 0: expected greater than 0",
    "forward: {retry_on_failure: {max_interval: never}}": "max_interval: 'never': expected seconds, or a dur",
    "forward: {retry_on_failure: {multiplier: 0.5}}": "multiplier: 0.5: expected greater than or equal to 1",
    "forward: {retry_on_failure: {max_elapsed_time: -5}}": "max_elapsed_time: -5: expected greater than or equal to 0",
    "lake: {retention: 0}": "lake.retention: 0: expected greater than 0",
    "lake: {retention: 1000000d}": "lake.retention: '1000000d': expected 36500d at most",
    "queue: {duplicate_window: 3153600001}": "queue.duplicate_window: 3153600001: expected 36500d at most",
    "lake: {retention: 1 week}": "lake.retention: '1 week': expected seconds, or a dur",
    "lake: {max_bytes: 0}": "lake.max_bytes: 0: expected greater than 0",
    "forward: {protocol: http/json}": "forward.protocol: 'http/json': expected 'grpc', 'http/protobuf' or 'phoenix'",
    "forward: {protocol: http/protobuf, endpoint: there}": "forward.endpoint: 'there': expected HOST:PORT, http://HOST",
    "forward: {headers: {a b: c}}": "forward.headers: (not shown): expected names of letters, digits and - _ ., and",
    'forward: {headers: {a: "b\\r\\nc: d"}}': "forward.headers: (not shown): expected names of letters, digits and",
    "forward: {header: {a: secret}}": "forward.header: (not shown): no such setting; did you mean forward.headers?",
    "forward: {sending_queue: {on_full: drop_newest}}": "on_full: 'drop_newest': expected 'block' or 'drop_oldest'",
    "forward: {sending_queue: {max_bytes: 1MiB}}": "max_bytes: '1MiB': expected on_full: drop_oldest with it",
    "forward: {destinations: 5}": "forward.destinations: (not shown): expected a valid dictionary",
    "forward: {destinations: {a: {}}}": "forward.destinations.a.endpoint: (not shown): is missing",
    "forward: {destinations: {'a/b': {endpoint: 'b:1'}}}": "forward.destinations.a/b: (not shown): expected a name",
    "forward: {destinations: {a: {endpoint: 'b:1', destinations: {}}}}": "a.destinations: (not shown): no such setting",
    "forward: {destinations: {a: {endpoint: 'b:1/v1'}}}": "a.endpoint: (not shown): expected HOST:PORT, http://HOST:PORT",
    "forward: {destinations: {a: {endpoint: 'b:1', headers: {c: 5}}}}": "a.headers.c: (not shown): expected a valid",
    "log: {level: loud}": "log.level: 'loud': expected 'debug', 'info', 'warning' or 'error'",
    "log: {format: xml}": "log.format: 'xml': expected 'console' or 'json'",
    "reciever: {}": "reciever: {}: no such setting; did you mean receiver?",
    "receiver: {grpc: {endpont: a}}": "endpont: 'a': no such setting; did you mean receiver.grpc.endpoint?",
    "- a": "the whole: ['a']: expected a section of settings",
    "a: [": "while parsing a flow",
}


def faults(file: Path | None = None, environ: dict[str, str] | None = None, **flags: str) -> list[str]:
    with pytest.raises(UsageError) as caught:
        load_config(file, environ or {}, {f"--{name.replace('_', '-')}": value for name, value in flags.items()})
    return str(caught.value).splitlines()


@pytest.mark.parametrize(("text", "expected"), BAD_FILES.items())
def test_a_bad_file_is_named_with_key_value_and_expectation(tmp_path: Path, text: str, expected: str) -> None:
    """Each fault of a file is one message that names the file, the key, the value and what was expected."""
    file = tmp_path / "bad.yaml"
    file.write_text(text)
    message = "\n".join(faults(file))
    assert expected in message
    assert str(file) in message or "(default)" in message


def test_a_client_certificate_needs_its_key(tmp_path: Path) -> None:
    """A certificate without its key is refused, and a key without its certificate."""
    pem = tmp_path / "some.pem"
    pem.touch()
    for half in ("CERT_FILE", "KEY_FILE"):
        (fault,) = faults(None, {f"WEAKLINK_FORWARD__TLS__{half}": str(pem)})
        assert fault.endswith("expected forward.tls.cert_file and forward.tls.key_file together")


def test_all_faults_of_all_sources_are_reported_at_once(tmp_path: Path) -> None:
    """One error has a line for every fault, each under the name that its source gives it."""
    file = tmp_path / "weaklink.yaml"
    file.write_text("queue: {max_bytes: none}\nanalysis: {max_hops: 99, hops: 1}\n")
    environ = {"WEAKLINK_LOG__LEVEL": "loud", "WEAKLINK_DATADIR": "x", "OTHER": "x"}
    found = faults(file, environ, grpc="here")
    assert sorted(line.split(": ")[0] for line in found if not line.startswith(str(file))) == [
        "--grpc",
        "WEAKLINK_DATADIR",
        "WEAKLINK_LOG__LEVEL",
    ]
    assert sorted(line.split(": ")[1] for line in found if line.startswith(str(file))) == [
        "analysis.hops",
        "analysis.max_hops",
        "queue.max_bytes",
    ]
    assert "WEAKLINK_DATADIR: 'x': no such setting; did you mean WEAKLINK_DATA_DIR?" in found


def test_an_unknown_variable_never_shows_a_header() -> None:
    """A header put under a name that does not exist is not printed."""
    (fault,) = faults(None, {"WEAKLINK_FORWARD__HEADERS__AUTHORIZATION": "Bearer 123"})
    assert "123" not in fault


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"endpoint": "b", "headers": {"key": "secret"}}}',
        '{"a": {"headers": {"key": "secret"}}}',
        '{"a": {"endpoint": "b:1", "headers": {"key": ["secret"]}}}',
        '{"a": {"endpoint": "b:1", "headers": {"key=secret": null}}}',
        '{"a": {"endpoint": "b:1", "headers": {"key: secret": "="}}}',
        '{"a": {"endpoint": "b:1", "header": {"key": "secret"}}}',
        '{"a": "secret"}',
        '{"a": {"headers": "secret"',
    ],
)
def test_a_fault_of_a_destination_never_shows_a_header(text: str) -> None:
    """Wherever in the mapping the fault is."""
    (fault,) = faults(None, {"WEAKLINK_FORWARD__DESTINATIONS": text})
    assert fault.startswith("WEAKLINK_FORWARD__DESTINATIONS")
    assert "secret" not in fault


def test_destinations(tmp_path: Path) -> None:
    """Each has settings of its own, in a file and in a variable; the unnamed one is named by its URL."""
    file = tmp_path / "weaklink.yaml"
    file.write_text("forward: {timeout: 3, destinations: {a: {endpoint: 'b:1', headers: {c: d}}}}")
    forward = load_config(file, {}, {"--forward": "e:1"}).forward
    assert [(name, own.url, own.timeout) for name, own in forward.all.items()] == [
        ("http://e:1", "http://e:1", 3.0),
        ("a", "http://b:1", 10.0),
    ]
    assert forward.all["a"].headers == {"c": "d"}
    variable = {"WEAKLINK_FORWARD__DESTINATIONS": '{"f": {"endpoint": "g:1"}}'}
    assert list(load_config(file, variable, {}).forward.all) == ["f"]
    assert load_config(None, {}, {}).forward.all == {}


def test_later_sources_win(tmp_path: Path) -> None:
    """Defaults give way to the file, the file to the environment, the environment to flags."""
    file = tmp_path / "weaklink.yaml"
    file.write_text("data_dir: file\nreceiver: {grpc: {endpoint: 'file:1'}, http: {endpoint: 'file:2'}}\n")
    environ = {"WEAKLINK_RECEIVER__GRPC__ENDPOINT": "env:1", "WEAKLINK_RECEIVER__HTTP__ENDPOINT": "env:2"}
    config = load_config(file, environ, {"--grpc": "flag:1", "--http": None, "--forward": None})
    assert (str(config.data_dir), config.receiver.grpc.endpoint, config.receiver.http.endpoint) == (
        "file",
        "flag:1",
        "env:2",
    )
    assert config.forward.endpoint is None


def test_the_file_of_the_current_folder_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """weaklink.yaml counts without being named, and a named file counts in its place."""
    monkeypatch.chdir(tmp_path)
    Path("weaklink.yaml").write_text("analysis: {max_hops: 7}")
    Path("other.yaml").write_text("")
    assert load_config(None, {}, {}).analysis.max_hops == 7
    assert load_config(Path("other.yaml"), {}, {}).analysis.max_hops == 5


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    """A --config that does not exist is refused."""
    (fault,) = faults(tmp_path / "none.yaml")
    assert "No such file" in fault


def test_every_setting_has_a_variable(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever the file can set, the environment can: a bad value is found under each name."""
    monkeypatch.chdir(tmp_path)
    environ = {env_name(key): "?" for key in settings()}
    named = {fault.split(": ")[0] for fault in faults(None, environ)}
    anything_goes = {"WEAKLINK_DATA_DIR", "WEAKLINK_ANALYSIS__ATTRIBUTION__NAME"}
    follows_from_others = {"forward.tls.key_file"}
    assert named - follows_from_others == set(environ) - anything_goes


def test_empty_means_unset(tmp_path: Path) -> None:
    """An empty variable, key or section leaves the default in force."""
    file = tmp_path / "weaklink.yaml"
    file.write_text("data_dir:\nreceiver:\nforward: {endpoint: null}")
    assert load_config(file, {"WEAKLINK_LOG__LEVEL": ""}, {}) == Config()


def test_notations() -> None:
    """Durations take the Collector's units, sizes theirs, headers the exporters' notation."""
    environ = {
        "WEAKLINK_ANALYSIS__QUIET_PERIOD": "500ms",
        "WEAKLINK_ANALYSIS__CLOCK_SKEW": "1.5m",
        "WEAKLINK_QUEUE__MAX_BYTES": "1GiB",
        "WEAKLINK_FORWARD__HEADERS": "a=b, c=d=e",
        "WEAKLINK_RECEIVER__AUTH__TOKENS": '["one", "two"]',
    }
    config = load_config(None, environ, {})
    assert (config.analysis.quiet_period, config.analysis.clock_skew) == (0.5, 90.0)
    assert config.queue.max_bytes == 1 << 30
    assert config.forward.headers == {"a": "b", "c": "d=e"}
    assert config.receiver.auth.tokens == ("one", "two")


def test_headers_of_an_exporter(tmp_path: Path) -> None:
    """A text is percent-encoded as in OTEL_EXPORTER_OTLP_HEADERS, and a mapping is not."""
    written = "authorization=Basic%20dTpw%3D,x%2Dtenant=a%2Cb, plain=100%"
    config = load_config(None, {"WEAKLINK_FORWARD__HEADERS": written}, {})
    assert config.forward.headers == {"authorization": "Basic dTpw=", "x-tenant": "a,b", "plain": "100%"}
    file = tmp_path / "weaklink.yaml"
    file.write_text('forward: {headers: {x-key: "a%20b"}}')
    assert load_config(file, {}, {}).forward.headers == {"x-key": "a%20b"}
    with pytest.raises(UsageError, match="values of ASCII that can be printed"):
        load_config(None, {"WEAKLINK_FORWARD__HEADERS": "a=b%0D%0Ac: d"}, {})


def test_thresholds_by_name(tmp_path: Path) -> None:
    """Thresholds of a namespace or a service are a mapping in the file, and the same as JSON in a variable."""
    file = tmp_path / "weaklink.yaml"
    file.write_text("analysis: {namespaces: {/ops: {min_threshold: 0.5}}}")
    environ = {"WEAKLINK_ANALYSIS__SERVICES": '{"desk": {"flag_threshold": 0.8}}'}
    analysis = load_config(file, environ, {}).analysis
    assert analysis.namespaces == {"/ops": Thresholds(min_threshold=0.5)}
    assert analysis.services == {"desk": Thresholds(flag_threshold=0.8)}


def test_children_get_the_same_settings() -> None:
    """The line that a child reads gives back the parent's settings, whatever they are."""
    environ = {
        "WEAKLINK_FORWARD__HEADERS": "token=secret",
        "WEAKLINK_RECEIVER__AUTH__TOKENS": "secret",
        "WEAKLINK_RECEIVER__AUTH__USERS": '{"ann": "secret"}',
        "WEAKLINK_ANALYSIS__MAX_HOPS": "1",
        "WEAKLINK_ANALYSIS__RUBRICS": '["memledger/2.0", {"name": "own", "weights": {"cycle": 1}, "max_depth": 1}]',
        "WEAKLINK_ANALYSIS__DECISIONS": '[{"span_name": "approve *"}]',
    }
    config = load_config(None, environ, {"--forward": "https://there:4317"})
    assert Config.model_validate_json(config.model_dump_json()) == config
    assert "secret" not in repr(config)


@pytest.mark.parametrize(
    ("endpoint", "insecure", "url"),
    [
        (None, None, ""),
        ("a:1", None, "http://a:1"),
        ("a:1", "true", "http://a:1"),
        ("a:1", "false", "https://a:1"),
        ("https://a:1", None, "https://a:1"),
    ],
)
def test_forwarding_is_over_tls_when_asked(endpoint: str | None, insecure: str | None, url: str) -> None:
    """The scheme or tls.insecure says whether forwarding is secured."""
    config = load_config(None, {"WEAKLINK_FORWARD__TLS__INSECURE": insecure or ""}, {"--forward": endpoint})
    assert config.forward.url == url
