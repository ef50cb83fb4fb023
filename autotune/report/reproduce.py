"""Reproduce: reproduce.md, everything that is needed to do the run again and to apply what it found."""

from autotune import __version__
from autotune.model.campaign import Campaign
from autotune.report.answer import answer
from autotune.report.commands import PROFILE_FILE, commands
from autotune.report.fact_tables import environment_tables
from autotune.report.markdown import table_text
from autotune.report.safe_text import code_block, markdown
from autotune.report.texts.words import Language


def reproduce_text(campaign: Campaign, language: Language) -> str:
    """The page in Markdown."""
    heads, notes = language.headings, language.notes
    blocks = [
        f"# {heads.reproduce}",
        markdown(answer(campaign, language).sentence),
        markdown(notes.reproduce),
        f"## {heads.commands}",
        code_block(f"pip install ascend-autotune=={__version__}\n" + "\n".join(commands(campaign)), "sh"),
        f"## {heads.profile} {PROFILE_FILE}",
        code_block(campaign.profile_text, "yaml"),
        f"## {heads.diff}",
        code_block(campaign.config_diff, "diff") if campaign.config_diff else markdown(notes.no_diff),
        f"## {heads.environment}",
        *(f"### {table.name}\n\n{table_text(table)}" for table in environment_tables(campaign, language)),
    ]
    return "\n\n".join(blocks) + "\n"
