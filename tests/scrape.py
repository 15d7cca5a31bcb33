"""Metrics as Prometheus sees them: over HTTP, through its own client library's parser."""

from dataclasses import dataclass
from urllib.request import urlopen

from prometheus_client import Metric
from prometheus_client.parser import text_string_to_metric_families
from prometheus_client.samples import Sample


@dataclass(frozen=True)
class Scraped:
    """One scrape."""

    text: str

    @property
    def families(self) -> dict[str, Metric]:
        return {family.name: family for family in text_string_to_metric_families(self.text)}

    @property
    def samples(self) -> list[Sample]:
        return [sample for family in self.families.values() for sample in family.samples]

    def value(self, name: str, **labels: str) -> float:
        """The values of the samples of this name that have these labels, together; 0 where there is none.

        The parser appends `_total` to the name of each counter's sample, which the text does not have.
        """
        found = [sample for sample in self.samples if sample.name.removesuffix("_total") == name]
        return sum(sample.value for sample in found if labels.items() <= sample.labels.items())


def scrape(endpoint: str) -> Scraped:
    """GET /metrics of HOST:PORT."""
    with urlopen(f"http://{endpoint}/metrics", timeout=10) as answer:
        assert answer.headers["Content-Type"] == "text/plain; version=0.0.4; charset=utf-8"
        return Scraped(answer.read().decode())
