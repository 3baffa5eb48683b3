"""`rlx models`: the models of Inference Providers, and a try of an endpoint."""

from typing import TYPE_CHECKING, Annotated, Literal

import typer

from rlx.cli.options import DemoOption, FormatOption, HubOption, LimitOption, make_settings, new_app
from rlx.cli.output import Output, Record, note, tell_rest

if TYPE_CHECKING:
    from rlx.model import Viewer
    from rlx.runners.models.pool import PoolModel
    from rlx.services import Services

app = new_app("Find models that agents can speak with, and try an endpoint.")

COLUMNS = ("id", "tools", "context", "cheapest", "dollars_in", "dollars_out", "providers")
SearchArgument = Annotated[str, typer.Argument(metavar="[WORDS]", help="Words of a model's name or a provider's.")]


@app.command("ls")
def list_models(
    search: SearchArgument = "",
    tools: Annotated[bool, typer.Option("--tools", help="Only those that take tools.")] = False,
    sort: Annotated[
        Literal["listed", "name", "price", "context"], typer.Option("--sort", help="price: the cheapest first.")
    ] = "listed",
    limit: LimitOption = None,
    hub: HubOption = None,
    demo: DemoOption = False,
    format: FormatOption = "auto",
) -> None:
    """List models of Inference Providers: who serves each, dollars for a million tokens, tools and context.

    The prices are those of the cheapest provider; --format json has every provider's. One is picked with
    rlx run start --model router:ID, and :fastest, :cheapest or :PROVIDER after the id.
    """
    from rlx.cli.session import with_services
    from rlx.runners.models.pool import in_order
    from rlx.runners.models.pool import search as searched

    async def work(services: "Services", viewer: "Viewer") -> "list[PoolModel]":
        return in_order(searched(await services.router.models(), search, tools=tools), sort)

    found = with_services(make_settings(hub, demo, None), work)
    output = Output(format)
    most = output.most(limit)
    output.table([_record(model, output) for model in found[:most]], COLUMNS, id_columns=("id",))
    tell_rest(min(len(found), most or len(found)), len(found))


@app.command("test")
def try_endpoint(
    base_url: Annotated[str, typer.Argument(metavar="URL", help="An endpoint, up to /chat/completions.")],
    model: Annotated[
        str | None, typer.Option("--model", help="The model's name there. Without one its models are listed.")
    ] = None,
    format: FormatOption = "auto",
) -> None:
    """Try an endpoint: is it reached, does it take the key, know the model, call tools, stream, count tokens?

    A key is read from RLX_MODEL_KEY or OPENAI_API_KEY. Exits 1 when the model does not work.
    """
    import os

    import anyio

    from rlx.runners.endpoints import checked_address
    from rlx.runners.models.exchange import Server
    from rlx.runners.models.probe import listed, probe
    from rlx.texts import words

    key = os.environ.get("RLX_MODEL_KEY") or os.environ.get("OPENAI_API_KEY")
    output = Output(format)

    async def server() -> Server:
        return Server(await checked_address(base_url, any_address=True), key, any_address=True)

    async def names() -> tuple[str, ...]:
        return await listed(await server())

    if model is None:
        output.table([{"id": name} for name in anyio.run(names)], ("id",), id_columns=("id",))
        note("Try one with --model.")
        return

    async def tried() -> Record:
        found = await probe(await server(), model)
        said = " ".join(words(each) for each in found.said)
        return {
            "verdict": found.verdict,
            "works": found.works,
            "streams": found.streams,
            "usage": found.usage,
            "said": said,
            "detail": found.detail,
        }

    record = anyio.run(tried)
    output.table([record], ("verdict", "works", "streams", "usage"), id_columns=("verdict",))
    if output.format != "json":
        note(str(record["said"]))
        if record["detail"]:
            note(f"The server says: {record['detail']}")
    if not record["works"]:
        raise typer.Exit(1)


def _record(model: "PoolModel", output: Output) -> Record:
    cheapest = model.cheapest
    price = cheapest.price if cheapest is not None else None
    names = [provider.name for provider in model.live]
    record: Record = {
        "id": model.id,
        "tools": model.tools,
        "context": model.context,
        "cheapest": cheapest.name if cheapest is not None else None,
        "dollars_in": price.dollars_in if price is not None else None,
        "dollars_out": price.dollars_out if price is not None else None,
        "providers": ", ".join(names),
    }
    if output.format != "json":
        return record
    told = [
        {
            "provider": each.name,
            "tools": each.tools,
            "context": each.context,
            "dollars_in": each.price.dollars_in if each.price is not None else None,
            "dollars_out": each.price.dollars_out if each.price is not None else None,
        }
        for each in model.live
    ]
    return {**record, "inputs": list(model.inputs), "providers": told}
