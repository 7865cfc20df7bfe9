# SPDX-License-Identifier: Apache-2.0
import jsonschema
import pytest
import torch._inductor.config

from assay_runner import options
from assay_runner.errors import RunnerError

SCHEMA = options.inductor(cuda=True)


def test_the_schemas_are_closed_and_typed():
    for schema in (options.EAGER, SCHEMA):
        jsonschema.Draft202012Validator.check_schema(schema)
        assert schema["type"] == "object" and schema["additionalProperties"] is False
        for rule in schema["properties"].values():
            assert "enum" in rule or rule["type"] == "boolean" or {"minimum", "maximum"} <= rule.keys()


def test_every_setting_exists_in_inductor_and_none_is_a_file_or_a_command():
    for name, rule in SCHEMA["properties"].items():
        if name in options.COMPILE_ARGUMENTS:
            continue
        value = torch._inductor.config
        for part in name.split("."):
            value = getattr(value, part)
        assert not isinstance(value, str) or "enum" in rule


CASES = [
    ({}, True),
    ({"mode": "default", "freezing": True, "cpp.simdlen": 256}, True),
    ({"max_fusion_size": 64}, True),
    ({"max_fusion_size": 0}, False),
    ({"max_fusion_size": True}, False),
    ({"freezing": 1}, False),
    ({"mode": "fastest"}, False),
    ({"cpp.simdlen": "256"}, False),
    ({"cpp.cxx": "/bin/sh"}, False),
    ({"cpp.march": "native"}, False),
]


@pytest.mark.parametrize("value, good", CASES)
def test_the_check_by_hand_agrees_with_the_schema(value, good):
    assert jsonschema.Draft202012Validator(SCHEMA).is_valid(value) is good
    if good:
        assert options.check(SCHEMA, value) == value
    else:
        with pytest.raises(RunnerError) as caught:
            options.check(SCHEMA, value)
        assert caught.value.error_class == "unsupported" and repr(next(iter(value))) in str(caught.value)
