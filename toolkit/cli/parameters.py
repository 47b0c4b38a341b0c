"""Options that several verbs share, read from what a person types."""

import functools
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from toolkit.cluster.session import ClusterSpec
from toolkit.config import MAX_SEED
from toolkit.data.constants import AUTO
from toolkit.data.schema import read_number
from toolkit.data.write import WRITERS
from toolkit.equations import Constant, EquationError, parse_constant
from toolkit.methods import METHODS
from toolkit.nn.threads import use_threads
from toolkit.solvers import SOLVERS
from toolkit.storage import s3

COUNT = click.IntRange(1, 1_000_000_000)  # of problems, rounds, trials
SEED = click.IntRange(0, MAX_SEED)
WORKERS = click.IntRange(1, 100_000)


class FiniteRange(click.FloatRange):
    """A range without nan, which is neither above nor below anything."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        converted = super().convert(value, param, ctx)
        if not math.isfinite(converted):
            self.fail(f"{value} is not a finite number.", param, ctx)
        return converted


class DiskPath(click.Path):
    """A file or folder on a disk. An address would become a folder with an odd name."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(path_type=Path, **settings)

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        if s3.is_address(value):
            self.fail(
                f"{value}: only problem sets and --storage may be in S3. Name a path on a disk.", param, ctx
            )
        return super().convert(value, param, ctx)


def number(ctx: click.Context, param: click.Parameter, value: str | None) -> float | None:
    """A finite number as people write them: 51, 3/4, 12.5%, 1,250."""
    if value is None:
        return None
    try:
        return read_number(value)
    except ValueError as error:
        raise click.BadParameter(f"{value[:60]!r} {error}.") from None


def constants(ctx: click.Context, param: click.Parameter, value: str) -> tuple[Constant, ...]:
    """V_const, separated by commas: "1,π" or "1,100,π"."""
    found: dict[Constant, None] = {}
    for written in filter(None, (part.strip() for part in value.split(","))):
        try:
            constant = parse_constant(written)
        except EquationError as error:
            raise click.BadParameter(f"{error}.") from None
        found[constant] = None
    return tuple(found)


def constants_or_auto(ctx: click.Context, param: click.Parameter, value: str) -> tuple[Constant, ...] | None:
    """V_const, None for auto."""
    return None if value.strip() == AUTO else constants(ctx, param, value)


def shares(ctx: click.Context, param: click.Parameter, value: str | None) -> dict[str, float] | None:
    """Names with shares: "train=0.8,test=0.2"."""
    if value is None:
        return None
    parts: dict[str, float] = {}
    for written in value.split(","):
        name, _, share = (part.strip() for part in written.partition("="))
        try:
            parts[name] = read_number(share)
        except ValueError:
            raise click.BadParameter(f"{written!r} is not of the form name=share.") from None
        if not name or parts[name] <= 0 or "/" in name:
            raise click.BadParameter(f"{written!r}: a part needs a plain name and a share above 0.")
    return parts


def gold_option(help: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """--gold: the share of a set's equations that may be seen."""
    return click.option(
        "--gold",
        callback=_gold_share,
        default="none",
        show_default=True,
        metavar="all|none|FRACTION",
        help=help,
    )


def _gold_share(ctx: click.Context, param: click.Parameter, value: str) -> float:
    """all, none, or a fraction between 0 and 1."""
    named = {"all": 1.0, "none": 0.0}
    try:
        part = named[value] if value in named else read_number(value)
    except ValueError:
        part = -1.0
    if not 0 <= part <= 1:
        raise click.BadParameter(f"{value!r} is not all, none or a fraction between 0 and 1.")
    return part


def table_path(ctx: click.Context, param: click.Parameter, value: Path) -> Path:
    """A file whose suffix is the format of a table. A wrong suffix is refused before any work."""
    if value.suffix.lower() not in WRITERS:
        raise click.BadParameter(f"{value}: the name must end in {', '.join(WRITERS)}.")
    return value


def table_or_folder(ctx: click.Context, param: click.Parameter, value: Path) -> Path:
    """A file as in `table_path`, or the name of a folder, which has no suffix."""
    return table_path(ctx, param, value) if value.suffix else value


def storage_location(ctx: click.Context, param: click.Parameter, value: str | None) -> str | None:
    """A folder or URL; no key of access may be in it, for Ray writes it to its logs."""
    if value is not None and value.startswith(s3.SCHEME):
        s3.check_address(value)
    return value


constants_option = click.option(
    "--constants",
    callback=constants,
    default="1,π",
    show_default=True,
    help="V_const: numbers that an equation may use even if the text does not have them.",
)
auto_constants_option = click.option(
    "--constants",
    callback=constants_or_auto,
    default=AUTO,
    show_default=True,
    metavar="auto|LIST",
    help="V_const: numbers that an equation may use even if the text does not have them, such as 1,π. auto: "
    "1, π and what the data ask for (see warmkit data constants).",
)
annotations_option = click.option(
    "--annotations",
    type=DiskPath(),
    metavar="FILE",
    help="Equations of annotators: what `warmkit annotate pull` wrote, a JSON export of Label Studio, or a "
    "CSV with the columns id, equation, annotator.",
)
lang_option = click.option("--lang", help="Language of the text (en, hi, zh). [default: by its script]")
out_option = click.option(
    "--out",
    required=True,
    type=DiskPath(),
    callback=table_path,
    help="Ends in .parquet, .jsonl or .csv.",
)
skip_bad_option = click.option(
    "--skip-bad", is_flag=True, help="Keep the good rows instead of refusing the file, and list the bad ones."
)
solver_option = click.option(
    "--model",
    "folder",
    required=True,
    type=DiskPath(),
    help="The folder that `warmkit solver fit` wrote.",
)
solver_choice = click.Choice(list(SOLVERS))
method_option = click.option(
    "--method",
    type=click.Choice(list(METHODS)),
    default="warm",
    show_default=True,
    help="The method of step one.",
)
test_option = click.option("--test", metavar="DATA", help="Also evaluate the solver on these problems.")
prepared_option = click.option(
    "--prepared",
    type=DiskPath(file_okay=False),
    metavar="FOLDER",
    help="Where prepared problems are kept, to be used again. All nodes of a cluster must see it. [default: "
    "prepared, in the folder --storage or --out]",
)
set_option = click.option(
    "--set", "overrides", multiple=True, metavar="KEY=VALUE", help="Set one key of the configuration."
)
llm_set_option = click.option(
    "--set",
    "llm_settings",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a key of the section llm, for instance model=qwen3 or budget.requests=1000.",
)
runs_option = click.option(
    "--runs",
    default="runs",
    show_default=True,
    type=DiskPath(file_okay=False),
    help="The folder that holds all runs.",
)
address_option = click.option(
    "--address", metavar="HOST:PORT", help="The Ray cluster to use. [default: this machine]"
)
dashboard_option = click.option(
    "--dashboard", is_flag=True, help="Start Ray's dashboard and print its address."
)
verbose_option = click.option("-v", "--verbose", is_flag=True, help="Show what Ray logs.")


def device_option(command: Callable[..., Any]) -> Callable[..., Any]:
    """--device, and --threads, which takes effect by itself: for every verb that uses torch."""
    device = click.option(
        "--device",
        type=click.Choice(["auto", "cpu", "cuda"]),
        default="auto",
        show_default=True,
        help="auto: CUDA if available.",
    )
    threads = click.option(
        "--threads",
        type=click.IntRange(1, 1_024),
        expose_value=False,
        callback=lambda ctx, param, value: use_threads(value),
        help="CPU threads. More are faster at 512 units on a machine that does nothing else, and far "
        "slower on one that does. [default: OMP_NUM_THREADS, or 1]",
    )
    return device(threads(command))


def workers_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """--workers and related options, as one parameter `spec`. None means this process, without Ray."""

    @click.option("--workers", type=WORKERS, help="Use this many Ray workers.")
    @click.option("--gpu", is_flag=True, help="A GPU for each worker.")
    @address_option
    @click.option(
        "--storage",
        metavar="LOCATION",
        callback=storage_location,
        help="A folder or URL that all nodes of the cluster see.",
    )
    @dashboard_option
    @verbose_option
    @functools.wraps(command)
    def with_spec(
        *args: Any,
        workers: int | None,
        gpu: bool,
        address: str | None,
        dashboard: bool,
        verbose: bool,
        **kwargs: Any,
    ) -> Any:
        asked = workers is not None or gpu or dashboard or address is not None
        spec = ClusterSpec(workers or 1, gpu, address, dashboard, verbose) if asked else None
        return command(*args, spec=spec, **kwargs)

    return with_spec
