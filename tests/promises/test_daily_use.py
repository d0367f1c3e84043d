"""What was once found wrong in daily use, in fifteen groups, and for each statement the tests that would see it again.

To add a statement, add a line: what was wrong, and the tests, as FILE::TEST under tests/.
"""

from __future__ import annotations

import ast
import inspect
import re
import tomllib
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest

import sciretrieve as sr
from sciretrieve.commands import indexing, searching
from sciretrieve.options import BuildSettings, SearchOptions
from tests.command_line import process, sciretrieve
from tests.made_up import write_jsonl

TESTS = Path(__file__).parents[1]

FOUND: dict[int, dict[str, tuple[str, ...]]] = {
    1: {
        "a second --filter or --facets replaces the first": ("commands/test_cli.py::test_several_filters_and_facets_all_count",),
        "a second --since or -i replaces the first": ("commands/test_cli.py::test_an_option_that_takes_one_value_is_given_once",),
    },
    2: {"BibTeX looks for plugins at every field": ("corpora/test_bibtex.py::test_reading_looks_for_no_plugin",)},
    3: {
        "BibTeX loses keys, types and fields": (
            "bibliographies/test_bibtex.py::test_a_messy_bibliography_comes_back_field_by_field",
            "bibliographies/test_bibtex.py::test_through_an_index_too",
        ),
        "entries that are made have neither type nor DOI": ("bibliographies/test_bibtex.py::test_entries_are_made_of_what_a_corpus_has",),
        "keys change from answer to answer": ("bibliographies/test_bibtex.py::test_a_paper_has_the_same_key_in_every_answer",),
        "RIS has one type, no DOI and no book": (
            "bibliographies/test_ris.py::test_records_are_made_of_what_a_corpus_has",
            "bibliographies/test_ris.py::test_the_book_of_a_chapter_is_its_venue",
        ),
    },
    4: {
        "Zotero's CSV loses abstracts and venues": ("corpora/test_delimited.py::test_zoteros_csv",),
        "inverted abstracts and nested journals are lost": ("corpora/test_dialects.py::test_a_record_becomes_a_paper",),
        "an empty column hides a full one": ("corpora/test_papers.py::test_a_row_without_a_value_takes_it_from_the_next_column",),
        "nothing says what was read as what, and what papers lack": (
            "corpora/test_reading.py::test_what_is_read_as_what",
            "corpora/test_reading.py::test_a_column_like_abstracts_that_was_not_taken_is_named",
        ),
    },
    5: {
        "a right word of another field is corrected": (
            "test_strength.py::test_a_doubted_guess_is_dropped_where_the_query_is_understood_and_no_paper_with_it_is_near",
        ),
        "a stem is shown as the correction": ("lexical/test_spelling.py::test_a_stem_alone_is_not_what_was_meant",),
        "a corrected word weighs as much as a typed one": (
            "lexical/test_spelling.py::test_a_correction_weighs_less_than_a_typed_word_and_a_short_one_less_again",
        ),
        "JSON does not record a correction": ("test_outputs.py::test_json_is_the_promised_shape",),
        "nobody is told": ("commands/test_cli.py::test_a_corrected_word_is_told",),
    },
    6: {"one long token takes memory by its square": ("lexical/test_spelling.py::test_a_long_token_is_no_slip",)},
    7: {
        "a DOI, an arXiv number or a PubMed id does not find its paper": (
            "lookup/test_identifying.py::test_a_search_for_an_identifier_begins_with_its_paper_and_goes_on_with_its_subject",
            "lookup/test_identifying.py::test_named_papers",
        ),
        "they are no ids of papers elsewhere": ("lookup/test_identifying.py::test_wherever_an_id_is_taken",),
        "authors are not searched": (
            "lookup/test_names.py::test_papers_by_authors_of_a_name",
            "lexical/test_names.py::test_scores_are_those_of_the_text_and_what_names_add",
        ),
        "a title does not find its paper": (
            "lookup/test_looking.py::test_all_that_may_be_typed_means_what_a_look_at_every_paper_says",
            "lookup/test_looking.py::test_a_title_names_a_paper_wherever_an_id_is_taken",
        ),
        "author: misses accents and other orders of names": (
            "narrowing/test_names.py::test_an_author_is_found_as_people_type_names",
            "narrowing/test_names.py::test_these_find_whom_they_mean",
        ),
    },
    8: {
        "papers cannot be added, replaced or deleted": (
            "indexing/test_updating.py::test_add_encodes_only_papers_that_are_new",
            "indexing/test_updating.py::test_sync_makes_an_index_equal_to_a_corpus",
            "indexing/test_updating.py::test_papers_are_deleted_by_ids_by_a_filter_and_from_standard_input",
        ),
        "a corpus that has changed is another one": ("indexing/test_updating.py::test_index_on_a_corpus_that_grew_offers_sync_and_add",),
        "every corpus.parquet is the same index": (
            "commands/test_home.py::test_an_index_is_called_after_what_tells_a_corpus_from_others",
            "commands/test_home.py::test_another_corpus_of_the_same_name_replaces_nothing",
        ),
    },
    9: {
        "output fails where it cannot show a letter": (
            "commands/test_cli.py::test_output_that_cannot_show_a_letter_shows_its_number",
            "promises/test_daily_use.py::test_no_format_fails_in_a_narrow_encoding",
        ),
        "broken bytes are a traceback": (
            "test_index.py::test_broken_bytes_are_refused_in_one_line",
            "commands/test_cli.py::test_bytes_that_are_not_utf8_are_one_line",
        ),
        "one id is taken for its letters; None is a TypeError": ("test_index.py::test_what_cannot_be_searched_is_refused",),
        "options of the wrong type are a TypeError": (
            "test_options.py::test_search_options_are_checked_when_made",
            "test_options.py::test_other_options_are_checked_when_made",
        ),
        "data frames, tables and lists of dicts are no corpora": ("corpora/test_corpus.py::test_tables_in_memory_are_corpora",),
        "evaluate takes any option": ("evaluation/test_reports.py::test_an_option_that_there_is_not_is_named",),
        "a hub that cannot be reached takes half a minute and a page": (
            "encoders/test_sources.py::test_a_hub_that_does_not_answer_is_given_up_at_once",
        ),
        "paths with blanks cannot be pasted": ("commands/test_cli.py::test_commands_that_are_shown_can_be_pasted",),
        "1 papers, 1 rows": (
            "commands/test_cli.py::test_commands_that_are_shown_can_be_pasted",
            "indexing/test_updating.py::test_commands_say_what_they_did",
            "promises/test_daily_use.py::test_one_of_anything_is_singular",
        ),
    },
    10: {
        "an answer without any match has middling scores": (
            "test_strength.py::test_an_answer_is_as_strong_as_its_best_paper_by_meaning_or_by_words",
            "test_demo.py::test_what_matches_nothing_scores_little_and_is_told",
        ),
        "nothing says that no paper matches well": (
            "commands/test_cli.py::test_an_answer_that_matches_badly_is_told",
            "test_runs.py::test_a_weak_answer_says_so",
        ),
        "facets count papers that do not match": (
            "answers/test_overview.py::test_facets_count_the_papers_of_the_answer_that_match",
            "promises/test_daily_use.py::test_facets_and_groups_are_of_the_papers_with_the_word",
        ),
        "clusters show ids": ("test_outputs.py::test_clusters_are_printed_with_the_titles_of_their_best_papers",),
        "id:X scores 0": ("test_strength.py::test_a_query_of_column_demands_alone_is_a_listing",),
        "--diverse shows other scores": (
            "ranking/test_diversity.py::test_it_is_maximal_marginal_relevance",
            "ranking/test_diversity.py::test_a_diverse_search_chooses_from_five_times_as_many",
        ),
    },
    11: {
        "no progress in a log": ("commands/test_console.py::test_a_log_gets_a_line_now_and_then",),
        "nothing says beforehand how long it will take": ("indexing/test_estimating.py::test_what_is_estimated_is_what_is_built",),
        "crossref is not resolved": ("corpora/test_bibtex.py::test_entries_take_what_they_lack_from_their_parents",),
        "LaTeX stays in texts": ("corpora/test_bibtex.py::test_markup_becomes_plain_text",),
        "Jr. is a family name, and others an author": (
            "corpora/test_bibtex.py::test_who_is_named_where_a_paper_is_cited",
            "corpora/test_bibtex.py::test_others_are_no_author",
        ),
        "a broken entry swallows the next": ("corpora/test_bibtex.py::test_a_broken_entry_is_named_and_costs_itself",),
        "a directory of several formats is refused": (
            "corpora/test_corpus.py::test_a_directory_may_mix_formats_and_hold_files_that_have_another_suffix",
        ),
        "no JSON arrays, no CSL-JSON": (
            "corpora/test_json_document.py::test_arrays_and_answers_are_lists_of_papers",
            "corpora/test_dialects.py::test_an_array_of_records_and_a_list_in_memory_say_the_same",
        ),
        "no .xlsx": ("corpora/test_spreadsheet.py::test_what_was_written_comes_back",),
        "no .nbib": ("corpora/test_xml_formats.py::test_nbib",),
        "no BibTeX on standard input": ("corpora/test_corpus.py::test_standard_input_may_be_bibtex",),
        "no CSV without ids": ("corpora/test_papers.py::test_made_ids_are_the_same_in_every_order_and_company",),
        "no encodings but UTF-8": ("corpora/test_delimited.py::test_files_of_any_encoding",),
        "a quotation mark that is not closed merges rows": (
            "corpora/test_delimited.py::test_a_quotation_mark_that_is_not_closed_costs_its_row",
        ),
    },
    12: {
        "a field that does not exist is a word": ("narrowing/test_operators.py::test_what_cannot_be_meant",),
        "AND NOT is searched for": ("narrowing/test_operators.py::test_and_or_not",),
        "-survey is taken for an option": ("commands/test_cli.py::test_a_query_that_begins_with_a_minus_is_told_from_an_option",),
        "no ranges of years": ("narrowing/test_filters.py::test_what_people_write_after_a_field",),
        "no until": ("test_options.py::test_several_filters_must_all_hold",),
        "no between, no is null": ("narrowing/test_filters.py::test_filters_say_what_they_mean",),
        "no environment variable for an index, and none is found in folders above": (
            "test_config.py::test_an_environment_variable_comes_before_the_file_and_that_before_the_default",
            "test_finding.py::test_by_nothing_the_one_built_last_here_and_else_in_the_nearest_folder_above",
        ),
        "nothing says which index was searched": ("commands/test_terminal.py::test_a_search_at_a_terminal_says_which_index_answered",),
        "venues are cut in their first words": ("commands/test_terminal.py::test_venues_are_shortened_by_words",),
        "no links, no colour, no marked words, no sentence": (
            "commands/test_terminal.py::test_a_hit_has_title_link_marked_words_and_a_sentence",
        ),
        "no show, no open": (
            "commands/test_showing.py::test_all_of_a_paper_is_shown",
            "commands/test_showing.py::test_papers_are_opened_at_their_most_lasting_address",
        ),
        "no --sort, no choice of fields": ("commands/test_citing.py::test_answers_are_sorted_by_year_and_have_the_fields_that_are_wanted",),
        "no list of indexes": ("commands/test_home.py::test_indexes_lists_what_there_is",),
        "no config file": ("commands/test_home.py::test_settings_are_defaults_of_options",),
        "completion knows no indexes, columns, encoders and benchmarks": (
            "commands/test_completing.py::test_indexes_by_name_and_folders",
            "commands/test_completing.py::test_columns_at_the_end_of_a_filter_or_a_list",
            "commands/test_completing.py::test_names_of_catalogues_and_choices",
        ),
    },
    13: {
        "one figure is printed twice, differently": (
            "evaluation/test_reports.py::test_a_figure_is_printed_once_and_as_the_protocol_rounds_it",
        ),
        "a list of names is cut in silence": ("test_errors.py::test_unknown_names_say_what_is_near_or_what_there_is",),
        "evaluate scifact suggests another benchmark": ("evaluation/test_reports.py::test_sets_of_beir_are_named_by_their_directory",),
        "no encoders list, no benchmarks list": ("commands/test_evaluating.py::test_a_catalogue_can_be_listed_by_name",),
        "evaluate measures another mode than search has, and does not say so": ("commands/test_evaluating.py::test_the_mode_is_said",),
    },
    14: {
        "data frames have no titles": ("test_runs.py::test_a_table_has_titles_unless_they_are_left_out",),
        "group has two defaults": (
            "test_options.py::test_defaults_are_those_of_the_classes",
            "promises/test_daily_use.py::test_python_and_the_command_line_have_the_same_defaults",
        ),
        "no since": ("test_options.py::test_several_filters_must_all_hold",),
        "a run is no sequence": ("test_runs.py::test_a_run_is_a_sequence_of_rankings_and_its_slices_are_runs",),
        "its repr is a dump": ("test_runs.py::test_what_is_shown_is_short_and_has_titles",),
        "notebooks show nothing": ("test_runs.py::test_a_notebook_shows_tables_with_links_and_nothing_that_runs",),
        "no version": ("promises/test_public_names.py::test_all_is_sorted_and_resolves",),
        "no progress": ("test_progress.py::test_a_build_on_a_terminal_shows_a_bar_and_what_was_read",),
        "types are not shipped": ("promises/test_daily_use.py::test_types_are_shipped",),
    },
    15: {"extras bring what nothing imports": ("promises/test_extras.py::test_every_extra_brings_what_the_package_imports",)},
}


@cache
def defined(file: str) -> set[str]:
    """The tests of a file."""
    path = TESTS / file
    return {node.name for node in ast.parse(path.read_text(encoding="utf-8")).body if isinstance(node, ast.FunctionDef)}


@pytest.mark.parametrize("group", FOUND)
def test_each_statement_has_its_test(group: int) -> None:
    for statement, tests in FOUND[group].items():
        assert tests, statement
        for test in tests:
            file, _, name = test.partition("::")
            assert name in defined(file), f"{statement}: {test} is gone"


def test_no_group_is_left_out() -> None:
    assert list(FOUND) == list(range(1, 16))


def test_no_format_fails_in_a_narrow_encoding(tmp_path: Path) -> None:
    rows = [{"id": "é", "title": "Wärme 图 “x”", "abstract": "heat \U0001f600", "authors": ["Žižek, S."], "year": 2001}]
    index = sr.build(rows, tmp_path / "index", encoder=None)
    words = ("search", "heat", "-i", index.path, "--explain", "--facets", "authors")
    for arguments in (words, ("search", "heat", "-i", index.path, "-f", "jsonl"), ("search", "heat", "-i", index.path, "-f", "bibtex")):
        result = process(*arguments, PYTHONIOENCODING="ascii:strict", COLUMNS="60")
        assert result.returncode == 0, result.stderr
        assert "Traceback" not in result.stderr


def test_one_of_anything_is_singular(tmp_path: Path) -> None:
    write_jsonl(tmp_path / "one.jsonl", [{"id": "a", "title": "heat", "year": 2001}, {"title": ""}])
    write_jsonl(tmp_path / "two.jsonl", [{"id": "b", "title": "heat flow", "year": 2002}])
    (tmp_path / "queries.txt").write_text("heat\n", encoding="utf-8")
    index = tmp_path / "index"
    said = ""
    for words in (
        ("index", tmp_path / "one.jsonl", "-o", index, "--dense", "none"),
        ("search", "heat", "-i", index, "--facets", "year,venue"),
        ("export", "-i", index, "-o", tmp_path / "papers.parquet"),
        ("batch", tmp_path / "queries.txt", "-i", index, "-o", tmp_path / "run.trec"),
        ("add", tmp_path / "two.jsonl", "-i", index),
        ("duplicates", "-i", index),
        ("delete", "b", "-i", index),
        ("merge", "-i", index),
        ("verify", "-i", index),
        ("info", "-i", index),
        ("log", "-i", index),
    ):
        result = sciretrieve(*words)
        assert result.returncode == 0, result.stderr
        said += result.stdout + result.stderr
    said += repr(sr.open(index)) + repr(sr.open(index).search("heat"))
    assert "1 paper" in said
    wrong = r"(?<![\d,.])1 (papers|rows|queries|hits|lines|shards|files|groups|values|generations)\b"
    assert re.findall(wrong, said) == []


def test_facets_and_groups_are_of_the_papers_with_the_word(index: sr.Index) -> None:
    """However many papers an answer has."""
    counts = {word: len(index.search(word, 300, mode="bm25", group=False)[0]) for word in ("galaxy", "telescope", "orbit", "vaccine")}
    word, with_word = next((word, count) for word, count in counts.items() if 0 < count < 150)
    answer = sr.answer(index, sr.Request(word, facets=["year"], cluster=True))
    assert answer.facets[0].papers == with_word
    assert sum(len(group.papers) for group in answer.groups) == with_word
    assert all(paper.title for group in answer.groups for paper in group.papers)


def test_python_and_the_command_line_have_the_same_defaults() -> None:
    """Of every option of `search` and `index` that is a field of the library's options."""
    for command, options in ((searching.search, SearchOptions()), (indexing.index, BuildSettings())):
        typed = {name: parameter.default for name, parameter in inspect.signature(command).parameters.items()}
        alike = {field.name for field in fields(options)} & set(typed) - {"lexical", "limit"}
        assert {"filter", "mode", "group"} <= alike or {"encoder", "dense", "recall"} <= alike
        assert {name: typed[name] for name in alike} == {name: getattr(options, name) for name in alike}


def test_types_are_shipped() -> None:
    package = Path(sr.__file__).parent
    assert (package / "py.typed").is_file()
    project = tomllib.loads((TESTS.parent / "pyproject.toml").read_text(encoding="utf-8"))
    assert "py.typed" in project["tool"]["setuptools"]["package-data"]["sciretrieve"]


@pytest.mark.parametrize("name", [name for name in sr.__all__ if inspect.isfunction(getattr(sr, name))])
def test_every_argument_of_the_public_functions_has_a_type(name: str) -> None:
    for parameter in inspect.signature(getattr(sr, name)).parameters.values():
        assert parameter.annotation not in (inspect.Parameter.empty, "Any"), parameter
