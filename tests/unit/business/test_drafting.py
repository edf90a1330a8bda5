"""What a draft says of names alone: identifiers as people say them, codes spelled out, the time that rows are counted by."""

from business.inference.column_roles import find_default_time
from business.inference.identifiers import Identifiers
from business.inference.values import name_region_codes
from business.semantic_layer.model import Dimension, Value

GLUED = Identifiers(
    ["sbCustomer", "sbTicker", "sbDailyPrice"], ["sbCustJoinDate", "sbCustPostalCode", "sbTickerId", "sbDpClose"]
)
PLAIN = Identifiers(["patients", "treatments", "paperkeyphrase", "paper", "keyphrase"], ["ins_type", "keyphraseid"])


def test_a_column_is_said_as_people_say_it() -> None:
    for name, table, said in (
        ("ins_type", "patients", ("insurance type", "ins type", "type of ins")),
        ("height_cm", "patients", ("height", "height in cm")),
        ("is_placebo", "treatments", ("placebo",)),
        ("reported_dt", "treatments", ("reported date", "reported dt", "reported")),
        ("candidate", "patients", ("candidate",)),  # “date” is in it and no part of it
    ):
        assert set(said) <= set(PLAIN.column(name, table))
        assert "first" not in PLAIN.column(name, table)


def test_what_all_names_begin_with_is_no_part_of_them() -> None:
    assert GLUED.prefix == "sb"
    assert GLUED.table("sbDailyPrice") == ("daily price",)
    columns = ["sbCustId", "sbCustName", "sbCustJoinDate"]
    assert GLUED.column("sbCustJoinDate", "sbCustomer", GLUED.prefix_of(columns))[0] == "join date"
    assert GLUED.prefix_of(["start_date", "start_time"]) == ""  # of two columns nothing is told


def test_codes_of_places_are_spelled_out() -> None:
    for column, values, spoken in (
        ("state", ("CA", "NY"), ("California", "New York")),
        ("country", ("CA", "US"), ("Canada", "United States")),
        ("state", ("CA", "open"), ("", "")),  # one of them is no state
    ):
        found = name_region_codes(column, tuple(Value(value=value) for value in values))
        assert tuple("".join(value.synonyms) for value in found) == spoken


def test_rows_are_counted_by_the_time_that_is_named_so() -> None:
    for table, times, counted_by in (
        ("sales", ("sale_date", "delivery_date", "created_at"), "sale_date"),
        ("transactions", ("created_at", "completed_at"), "created_at"),
        ("patients", ("date_of_birth", "date_of_registration"), ""),
    ):
        dimensions = tuple(Dimension(name=name, expr=name, type="time") for name in times)
        assert find_default_time(table, dimensions) == counted_by
