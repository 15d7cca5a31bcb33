"""What the traces of a data folder say, as plots: a marimo notebook, and a program.

    marimo edit examples/notebook.py
    python examples/notebook.py

WEAKLINK_DATA_DIR is the data folder; weaklink-data if it is not set.
"""

import marimo

app = marimo.App(width="medium", app_title="weaklink")


@app.cell
def _opened():
    import os

    import altair as alt
    import duckdb
    import marimo as mo

    from weaklink_analysis.cookbook import question

    folder = os.environ.get("WEAKLINK_DATA_DIR", "weaklink-data")
    weaklink = duckdb.connect(f"{folder}/weaklink.duckdb", read_only=True)
    weaklink.execute("SET TimeZone = 'UTC'")

    def asked(name):
        """The answer to a question of the cookbook."""
        return weaklink.sql(question(name).sql).to_arrow_table()

    return alt, asked, mo, question


@app.cell
def _mai(alt, asked, mo, question):
    """MAI over time."""
    mai = alt.Chart(asked("mai_over_time")).mark_line(point=True)
    mo.vstack(
        [
            mo.md(f"## {question('mai_over_time').title}\n{question('mai_over_time').text}"),
            mai.encode(x="time:T", y=alt.Y("effective:Q", scale=alt.Scale(domain=[0, 1])), color="service_name:N"),
        ]
    )


@app.cell
def _gate(alt, asked, mo, question):
    """Allow, flag, filter."""
    counts = alt.Chart(asked("gate_counts")).transform_fold(["allow", "flag", "filter"], as_=["gate", "reads"])
    mo.vstack(
        [
            mo.md(f"## {question('gate_counts').title}\n{question('gate_counts').text}"),
            counts.mark_bar().encode(x="time:T", y="reads:Q", color="gate:N"),
        ]
    )


@app.cell
def _contamination(alt, asked, mo, question):
    """The contamination leaderboard."""
    board = alt.Chart(asked("contamination_leaderboard")).mark_bar()
    mo.vstack(
        [
            mo.md(f"## {question('contamination_leaderboard').title}\n{question('contamination_leaderboard').text}"),
            board.encode(x="decisions:Q", y=alt.Y("weakest_id:N", sort="-x"), color="confidence:Q"),
        ]
    )


@app.cell
def _depth(alt, asked, mo, question):
    """Depth of chains."""
    depths = alt.Chart(asked("chain_depths")).transform_fold(["declared", "effective"], as_=["of", "confidence"])
    mo.vstack(
        [
            mo.md(f"## {question('chain_depths').title}\n{question('chain_depths').text}"),
            depths.mark_line(point=True).encode(x="chain_depth:O", y="confidence:Q", color="of:N"),
        ]
    )


@app.cell
def _readers(alt, asked, mo, question):
    """Who relies on whom."""
    matrix = alt.Chart(asked("readers_and_authors")).mark_rect()
    mo.vstack(
        [
            mo.md(f"## {question('readers_and_authors').title}\n{question('readers_and_authors').text}"),
            matrix.encode(x="author:N", y="reader:N", color="sum(relied_on):Q"),
        ]
    )


if __name__ == "__main__":
    app.run()
