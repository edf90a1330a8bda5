"""The allow-list of a statement's parts: node classes with their fields, functions, operators, types.

Node and field names are those of PostgreSQL's own grammar (gram.y, as libpg_query gives it). What is not listed is refused:
a node class, a field that is set, a function, an operator, a type. A new version's syntax is therefore refused until it is
read and listed.
"""

# Left out on purpose: IntoClause and locking (writes), RangeTableSample, ParamRef, Xml*, Json*, CurrentOfExpr, ROWS FROM and
# lists of column definitions, `catalogname`, `use_op`, `func_variadic`.
NODES: dict[str, frozenset[str]] = {
    name: frozenset(fields.split())
    for name, fields in {
        "ParseResult": "version stmts",
        "RawStmt": "stmt stmt_location stmt_len",
        "SelectStmt": (
            "distinct_clause target_list from_clause where_clause group_clause group_distinct having_clause window_clause "
            "values_lists sort_clause limit_offset limit_count limit_option with_clause op all larg rarg"
        ),
        "WithClause": "ctes recursive location",
        "CommonTableExpr": "ctename aliascolnames ctematerialized ctequery location",
        "CollateClause": "arg collname location",
        "ResTarget": "name val location",
        "ColumnRef": "fields location",
        "A_Star": "",
        "String": "sval",
        "Integer": "ival",
        "Float": "fval",
        "Boolean": "boolval",
        "A_Const": "ival fval boolval sval isnull location",
        "List": "items",
        "A_Expr": "kind name lexpr rexpr rexpr_list_start rexpr_list_end location",
        "BoolExpr": "boolop args location",
        "NullTest": "arg nulltesttype location",
        "BooleanTest": "arg booltesttype location",
        "CaseExpr": "arg args defresult location",
        "CaseWhen": "expr result location",
        "CoalesceExpr": "args location",
        "MinMaxExpr": "op args location",
        "FuncCall": (
            "funcname args agg_order agg_filter over agg_within_group agg_star agg_distinct funcformat location"
        ),
        "NamedArgExpr": "arg name argnumber location",
        "SQLValueFunction": "op typmod location",
        "TypeCast": "arg type_name location",
        "TypeName": "names typmods typemod array_bounds location",
        "SortBy": "node sortby_dir sortby_nulls location",
        "WindowDef": "name refname partition_clause order_clause frame_options start_offset end_offset location",
        "SubLink": "sub_link_type testexpr oper_name subselect location",
        "A_ArrayExpr": "elements list_start list_end location",
        "A_Indirection": "arg indirection",
        "A_Indices": "is_slice lidx uidx",
        "RowExpr": "args row_format location",
        "GroupingSet": "kind content location",
        "GroupingFunc": "args location",
        "RangeVar": "schemaname relname inh relpersistence alias location",
        "RangeSubselect": "lateral subquery alias",
        "RangeFunction": "lateral ordinality functions alias",
        "JoinExpr": "jointype is_natural larg rarg using_clause join_using_alias quals alias rtindex",
        "Alias": "aliasname colnames",
    }.items()
}

# By exact name. None reads a file, a catalog or a setting, changes a session, or makes a value much longer than its
# arguments (repeat, lpad, rpad and format are missing for that reason: `spelled_out.py` writes their bounded uses otherwise).
# Set-returning functions are listed separately: they may make many rows, which cost and time limit.
_SETS = """
generate_series unnest string_to_table regexp_matches regexp_split_to_table
json_array_elements json_array_elements_text jsonb_array_elements jsonb_array_elements_text
json_each json_each_text jsonb_each jsonb_each_text json_object_keys jsonb_object_keys
"""
SET_FUNCTIONS = frozenset(_SETS.split())
_FUNCTIONS = """
count sum avg min max any_value stddev stddev_pop stddev_samp variance var_pop var_samp corr covar_pop covar_samp
regr_slope regr_intercept regr_r2 regr_count bool_and bool_or every bit_and bit_or array_agg string_agg
json_agg jsonb_agg json_object_agg jsonb_object_agg percentile_cont percentile_disc mode
row_number rank dense_rank percent_rank cume_dist ntile lag lead first_value last_value nth_value
abs ceil ceiling floor round trunc sign sqrt cbrt exp power pow ln log log10 mod div gcd lcm degrees radians pi width_bucket
sin cos tan asin acos atan atan2 cot trim_scale scale min_scale
lower upper initcap length char_length character_length octet_length substring substr left right
trim btrim ltrim rtrim position strpos split_part replace translate reverse starts_with concat concat_ws
regexp_replace regexp_match regexp_like regexp_count regexp_substr regexp_instr regexp_split_to_array like_escape
similar_to_escape overlay ascii chr md5 to_hex bit_length quote_literal quote_nullable quote_ident
string_to_array array_to_string array_length array_lower array_upper array_position array_positions array_append
array_prepend array_cat array_remove array_replace array_sort array_ndims array_dims trim_array cardinality
now transaction_timestamp statement_timestamp clock_timestamp date_trunc date_part date_add date_subtract extract age to_char
to_date to_timestamp to_number make_date make_time make_timestamp make_timestamptz make_interval
date_bin timezone overlaps justify_days justify_hours justify_interval isfinite date
daterange tsrange tstzrange int4range int8range numrange isempty lower_inc upper_inc
json_build_object jsonb_build_object json_build_array jsonb_build_array json_array_length jsonb_array_length
json_typeof jsonb_typeof to_json to_jsonb row_to_json json_extract_path_text jsonb_extract_path_text
json_extract_path jsonb_extract_path jsonb_strip_nulls num_nulls num_nonnulls
"""
FUNCTIONS = frozenset(_FUNCTIONS.split()) | SET_FUNCTIONS

# Called with named arguments, `make_interval(days => 3)`. For all others the guard checks arguments by position.
NAMED_ARGUMENTS = frozenset({"make_interval"})

# Their pattern must be a short constant: matching time depends on the pattern.
PATTERN_FUNCTIONS = {
    "regexp_replace": 1,
    "regexp_match": 1,
    "regexp_matches": 1,
    "regexp_like": 1,
    "regexp_count": 1,
    "regexp_substr": 1,
    "regexp_instr": 1,
    "regexp_split_to_array": 1,
    "regexp_split_to_table": 1,
}
# Their character set must be a short constant: each character of the text is searched in it, uninterruptibly.
CHARACTER_SETS = {"translate": 1, "trim": 1, "btrim": 1, "ltrim": 1, "rtrim": 1}
MAX_SET_CHARS = 100
SIMILAR = "similar_to_escape"
PATTERN_OPERATORS = frozenset({"~", "~*", "!~", "!~*"})
MAX_PATTERN_CHARS = 200

_OPERATORS = "+ - * / % ^ = <> < > <= >= || |/ @ & | # << >> -> ->> #> #>> @> <@ && ? ?| ?& ^@ -|- ~~ !~~ ~~* !~~*"
_RANGES = {"BETWEEN", "NOT BETWEEN", "BETWEEN SYMMETRIC", "NOT BETWEEN SYMMETRIC"}
OPERATORS = frozenset(_OPERATORS.split()) | PATTERN_OPERATORS | _RANGES

# CURRENT_DATE … LOCALTIMESTAMP(n); CURRENT_USER and its kin are names of the server's.
CLOCKS = frozenset(range(1, 10))

_TYPES = """
int2 int4 int8 smallint int integer bigint numeric decimal float4 float8 real double text varchar bpchar char
bool boolean money date time timetz timestamp timestamptz interval json jsonb uuid
daterange tsrange tstzrange int4range int8range numrange
"""
TYPES = frozenset(_TYPES.split())
MAX_COLLATION_CHARS = 40
