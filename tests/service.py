"""`weaklink serve` with stand-ins for its children, called as `service.py DATA_DIR RECEIVER ANALYST`."""

import sys
from pathlib import Path

import click

import supervised_child
from weaklink_processor.commands import serve
from weaklink_processor.config import Config, Grpc, Http, Receiver
from weaklink_processor.errors import WeaklinkError


def main(data_dir: str, *children: str) -> None:
    serve.CHILDREN = children
    receiver = Receiver(grpc=Grpc(endpoint="127.0.0.1:0"), http=Http(endpoint="0.0.0.0:0"))
    try:
        serve.run_service(
            Config(data_dir=Path(data_dir), receiver=receiver), (sys.executable, str(supervised_child.__file__))
        )
    except WeaklinkError as error:
        click.echo(error, err=True)
        sys.exit(2)


if __name__ == "__main__":
    main(*sys.argv[1:])
